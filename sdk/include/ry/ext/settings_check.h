/* ry.settings_check/1 - what a module's schema cannot tell about its settings. A point of the host.
 *
 * The schema in the descriptor refuses unknown keys, wrong types and what is out of range. One setting that
 * contradicts another, or one that the driver of another module reads, a module tells here: all that is wrong at
 * once, each fault with the setting it speaks of, so that the host can say where that was set. The host asks when
 * all modules are created and owners of extension points know their drivers, before anything is migrated or
 * started: in `runyard check`, when the server starts and when a module is changed. A module with a fault does not
 * start, so create() may ignore unusable settings and continue.
 */
#ifndef RY_EXT_SETTINGS_CHECK_H
#define RY_EXT_SETTINGS_CHECK_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_SETTINGS_CHECK_1 "ry.settings_check/1"

/* Valid until check() returns. */
typedef struct ry_settings_sink {
  uint32_t struct_size;
  uint32_t reserved0;
  void* ctx;
  /* key: where the fault is within the module's own table, as in TOML: "models.\"a/b\"", "list[0]"; empty: the
   * table as a whole. message: what is wrong, without the key and without secrets. Both borrowed. Any number of
   * times. [lifecycle] */
  void (*fault)(void* ctx, ry_str key, ry_str message) RY_NOEXCEPT;
} ry_settings_sink;

typedef struct ry_settings_check_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Tells every fault to the sink; none: the settings are sound. Looks only, at files too: rooms of the host that
   * `runyard check` does not have answer RY_UNAVAILABLE. `sink` is never NULL. [lifecycle] */
  void (*check)(void* self, const ry_settings_sink* sink) RY_NOEXCEPT;
} ry_settings_check_v1;

#ifdef __cplusplus
}
#endif
#endif

/* ry.settings_check/1 - checks of a module's settings that its schema cannot express. Extension point of the host.
 *
 * The schema in the descriptor rejects unknown keys, wrong types and values out of range. Here a module reports
 * settings that contradict each other, or that the driver of another module reads: all faults in one call, each with
 * the key of its setting, so that the host can state where it was set. The host calls this after all modules are
 * created and drivers are announced to the owners of extension points, before any migration or start: in `runyard
 * check`, when the server starts and when a module is swapped. A module with a fault does not start, so create() may
 * ignore unusable settings and continue.
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
  /* key: the setting within the module's own table, as in TOML: "models.\"a/b\"", "list[0]"; empty: the complete table.
   * message: the fault, without the key and without secrets. Both borrowed. May be called any number of times.
   * [lifecycle] */
  void (*fault)(void* ctx, ry_str key, ry_str message) RY_NOEXCEPT;
} ry_settings_sink;

typedef struct ry_settings_check_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Reports every fault to the sink; no call: the settings are valid. Changes nothing, but may read files. Host
   * services that `runyard check` lacks return RY_UNAVAILABLE. `sink` is never NULL. [lifecycle] */
  void (*check)(void* self, const ry_settings_sink* sink) RY_NOEXCEPT;
} ry_settings_check_v1;

#ifdef __cplusplus
}
#endif
#endif

/* ry.command/1 - commands of the operator that a module implements, such as `runyard model check`. A point of the host.
 *
 * The command line creates the modules as `runyard check` does: none is started, there is no database, and interfaces
 * that need one return RY_UNAVAILABLE. ry.core/1 and ry.http_client/1 work. A server never calls a command.
 */
#ifndef RY_EXT_COMMAND_H
#define RY_EXT_COMMAND_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_COMMAND_1 "ry.command/1"

#define RY_COMMAND_MODEL_CHECK "model_check" /* {"model", "json", "timeout_seconds", "total_timeout_seconds"?} */

#define RY_COMMAND_MAIL_CHECK "mail_check" /* {"json", "dns_server"?} */

typedef struct ry_command_call {
  uint32_t struct_size;
  uint32_t reserved0;
  void* ctx;
  /* Writes text to standard output unchanged; any number of times before done. Borrowed. [exec] */
  void (*print)(void* ctx, ry_str text) RY_NOEXCEPT;
  /* Called once, last. RY_OK: exit code 0; RY_INVALID_ARGUMENT or RY_NOT_FOUND: wrong command line; others: the command
   * failed. The error's message is written to standard error. [exec] */
  ry_done_fn done;
} ry_command_call;

typedef struct ry_command_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Starts the command; the driver has the command's name. `arguments_json` is an object, borrowed; `call` is copied.
   * Non-zero: not started, done is not called. [exec] */
  ry_status (*run)(void* self, ry_str arguments_json, ry_exec* exec, const ry_command_call* call) RY_NOEXCEPT;
} ry_command_v1;

#ifdef __cplusplus
}
#endif
#endif

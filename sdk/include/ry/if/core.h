/* ry.core/1 - log, clock, executors, timers, cancellation, blocking work. Present on every host. */
#ifndef RY_IF_CORE_H
#define RY_IF_CORE_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_CORE_1 "ry.core/1"

#define RY_LOG_TRACE 0
#define RY_LOG_DEBUG 1
#define RY_LOG_INFO 2
#define RY_LOG_WARN 3
#define RY_LOG_ERROR 4

typedef struct ry_core_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Writes one line to the host's log under the module's name. `fields_json`: empty or one JSON object.
   * Registered secrets (ry.secrets/1 redact) are masked. [any] */
  void (*log)(const ry_host* host, int32_t level, ry_str message, ry_str fields_json) RY_NOEXCEPT;
  /* Wall clock. [any] */
  int64_t (*now_unix_us)(const ry_host* host) RY_NOEXCEPT;
  /* Monotonic clock, for measuring. [any] */
  int64_t (*mono_us)(const ry_host* host) RY_NOEXCEPT;
  /* A property of the host by name, borrowed until destroy(): "version", "node_id" (UUID, new at every start),
   * "deployment.mode", "http.listen", "http.base_path", "http.public_url" (may be empty), "data_dir" (a directory for
   * this module only, created by the first call; empty on failure). Empty if unknown. [any] */
  ry_str (*info)(const ry_host* host, ry_str key) RY_NOEXCEPT;
  /* A new UUIDv7: increasing in time within this process. [any] */
  void (*new_uuid)(const ry_host* host, ry_uuid* out) RY_NOEXCEPT;

  /* Returns an executor for new work; the host balances the load. Executors are never freed. [any] */
  ry_exec* (*pick_exec)(const ry_host* host)RY_NOEXCEPT;
  /* 1 if the caller runs on this executor. [any] */
  uint32_t (*on_exec)(const ry_exec* exec) RY_NOEXCEPT;
  /* Runs fn(ctx) on exec soon, never inside this call. Always runs it, even while the module is stopping, before
   * destroy. [any] */
  ry_status (*exec_post)(const ry_host* host, ry_exec* exec, ry_call_fn fn, void* ctx) RY_NOEXCEPT;
  /* Completes after at least `ms`, or with RY_CANCELLED. `op` may be NULL. [any] */
  ry_status (*sleep_ms)(const ry_host* host, ry_exec* exec, uint64_t ms, ry_done done, ry_op_id* op) RY_NOEXCEPT;
  /* Requests that an operation ends early; its completion is still called. Stale ids have no effect. [any] */
  void (*op_cancel)(const ry_host* host, ry_op_id op) RY_NOEXCEPT;
  /* Runs work(ctx) on a thread that may block, then done on exec. Not cancellable. `work` must not
   * use handles that are tagged [exec]. [any] */
  ry_status (*run_blocking)(const ry_host* host, ry_exec* exec, ry_call_fn work, void* ctx, ry_done done) RY_NOEXCEPT;
} ry_core_v1;

#ifdef __cplusplus
}
#endif
#endif

/* ry.process/1 - child processes with pipes and limits. The host reaps them; a child and its process group are killed
 * when the handle is released, a limit is reached or the host terminates, even if it crashes. */
#ifndef RY_IF_PROCESS_H
#define RY_IF_PROCESS_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_PROCESS_1 "ry.process/1"

typedef struct ry_process ry_process; /* ended by release */

typedef struct ry_process_limits { /* 0 = none */
  uint32_t struct_size;
  uint32_t max_processes; /* RLIMIT_NPROC: counts all processes of the user; leave 0 if a sandbox sets a limit */
  uint64_t wall_ms;
  uint64_t cpu_s;
  uint64_t memory_bytes; /* address space */
  uint64_t file_bytes; /* largest file it may write */
  uint64_t open_files;
} ry_process_limits;

typedef struct ry_process_spec {
  uint32_t struct_size;
  uint32_t flags; /* RY_PROCESS_* */
  const ry_str* argv; /* argv[0] is looked up in PATH of `env` unless it has a '/' */
  size_t n_argv;
  const ry_str* env; /* "KEY=value"; the whole environment: nothing is inherited */
  size_t n_env;
  ry_str cwd; /* empty = "/" */
  ry_process_limits limits;
} ry_process_spec;

#define RY_PROCESS_STDERR_TO_STDOUT 1u

/* All on the exec of spawn, in order; exited comes last, after the ends of both pipes, exactly once.
 * `on_stdout`/`on_stderr`: RY_RESOURCE_EXHAUSTED pauses that pipe until resume(); bytes are
 * borrowed-out. exit_code: 0..255, or -signal. why: 0, or RY_REASON_DEADLINE if wall_ms expired, or
 * RY_REASON_USER after kill. */
typedef struct ry_process_handler {
  uint32_t struct_size;
  uint32_t reserved0;
  ry_status (*on_stdout)(void* ctx, ry_bytes chunk) RY_NOEXCEPT;
  ry_status (*on_stderr)(void* ctx, ry_bytes chunk) RY_NOEXCEPT;
  void (*on_exit)(void* ctx, int32_t exit_code, int32_t why) RY_NOEXCEPT;
} ry_process_handler;

typedef struct ry_process_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* RY_NOT_FOUND: no such program; RY_RESOURCE_EXHAUSTED: no more processes. err may be NULL. [any] */
  ry_status (*spawn)(const ry_host* host, ry_exec* exec, const ry_process_spec* spec, const ry_process_handler* handler,
                     void* ctx, ry_process** out, ry_errbuf* err) RY_NOEXCEPT;
  /* Queues a copy; `done` is called when the data has been written to the pipe. RY_RESOURCE_EXHAUSTED if more than 1
   * MiB is queued; RY_CANCELLED after the child closed its end. done.fn may be NULL. [any] */
  ry_status (*write)(ry_process* process, ry_bytes bytes, ry_done done) RY_NOEXCEPT;
  /* Closes stdin after the queued data is written. [any] */
  void (*close_stdin)(ry_process* process) RY_NOEXCEPT;
  void (*resume)(ry_process* process) RY_NOEXCEPT; /* [any] */
  /* Signals the whole group. [any] */
  void (*kill)(ry_process* process, int32_t signal) RY_NOEXCEPT;
  /* Kills the group if it still runs, and ends the handle. If called on the executor of the handler, no handler call
   * starts after this has returned. [any] */
  void (*release)(ry_process* process) RY_NOEXCEPT;
  int32_t (*pid)(const ry_process* process) RY_NOEXCEPT; /* [any] */
} ry_process_v1;

#ifdef __cplusplus
}
#endif
#endif

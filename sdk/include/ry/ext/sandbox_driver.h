/* sandbox.driver/1 - runs the commands of agents. Extension point of the module `runs`.
 *
 * A workspace has the UUID of its project and is mounted as /workspace. Paths are relative to it; a driver never
 * resolves a path to outside the workspace, regardless of symbolic links. All completions are called on the given exec,
 * never inside the call.
 */
#ifndef RY_EXT_SANDBOX_DRIVER_H
#define RY_EXT_SANDBOX_DRIVER_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_SANDBOX_DRIVER_1 "sandbox.driver/1"
/* The same table for local MCP servers; extension point of the module `mcp_json`. */
#define RY_MCP_SANDBOX_1 "mcp.sandbox/1"

/* Flags of a command. */
#define RY_SANDBOX_INTERACTIVE 1u /* its standard input stays open: write(), close_stdin(), pause() */
/* no workspace of a project: /workspace is empty and is removed after the command. project_id then identifies only
   the user of the command */
#define RY_SANDBOX_SCRATCH 2u
/* memory_bytes limits the data segment of each process (RLIMIT_DATA) instead of its address space (RLIMIT_AS): for
 * programs that reserve more than they use */
#define RY_SANDBOX_LIMIT_DATA 4u

/* A path of the host that is mounted in the sandbox under the same path. */
#define RY_SANDBOX_WRITABLE 1u
typedef struct ry_sandbox_mount {
  uint32_t struct_size;
  uint32_t flags; /* RY_SANDBOX_WRITABLE */
  ry_str path; /* absolute; ignored if it does not exist */
} ry_sandbox_mount;

typedef struct ry_sandbox_command {
  uint32_t struct_size;
  uint32_t network; /* 1: with network; 0: none */
  const ry_str* argv; /* argv[0] is looked up in PATH inside the sandbox */
  size_t n_argv;
  ry_bytes stdin_bytes;
  uint64_t wall_ms; /* 0 = the driver's default; limited to its maximum except with RY_SANDBOX_INTERACTIVE */
  uint64_t memory_bytes; /* of all processes together, and of the address space of each; 0 = default */
  uint64_t output_bytes; /* delivered from both pipes in total; more is dropped and counted. 0 = default */
  const ry_str* host_files; /* absolute paths of programs of the host: each appears, readable and
                               executable only, as /opt/runyard/<its last component> */
  size_t n_host_files;
  uint32_t flags; /* RY_SANDBOX_INTERACTIVE, ... */
  uint32_t reserved0;
  const ry_str* env; /* "KEY=value", added to the driver's environment and overriding it */
  size_t n_env;
  const ry_sandbox_mount* mounts;
  size_t n_mounts;
  /* 0 = the driver's limit. A value overrides that limit, even with a larger one. */
  uint64_t processes; /* processes and threads; of all commands of project_id together if the kernel counts per user */
  uint64_t open_files; /* of each process */
  uint64_t file_bytes; /* largest file that it may write */
  uint64_t scratch_bytes; /* size of /tmp, and of /workspace of RY_SANDBOX_SCRATCH */
  ry_str cache; /* absolute path of a directory of the host that appears, writable, as /cache; empty: none. The
                               driver gives it to the command's user */
  uint64_t cache_bytes; /* a command that makes it larger is killed; 0 = no limit */
  ry_str account; /* account of the command, a UUID, to which the limits per account apply. Empty: they
                               apply to project_id */
  /* Workspace limits; they apply if they are lower than the driver's (0 = the driver's). The driver kills a command
   * that grows the workspace beyond a limit. */
  uint64_t workspace_bytes;
  uint64_t workspace_files; /* files, directories, links and others */
} ry_sandbox_command;

typedef struct ry_sandbox_exit {
  uint32_t struct_size;
  int32_t exit_code; /* 0..255 or -signal */
  int32_t why; /* 0, or RY_REASON_DEADLINE, RY_REASON_USER; RY_REASON_OVERLOAD: it exceeded a memory or disk limit; the
                  last output on fd 2 names the limit */
  uint32_t reserved0;
  uint64_t dropped_bytes;
  /* Size of the workspace after the command; UINT64_MAX if it is unknown. */
  uint64_t workspace_bytes;
  uint64_t workspace_files;
} ry_sandbox_exit;

/* Called on the exec of run(), in order. */
typedef struct ry_sandbox_sink {
  uint32_t struct_size;
  uint32_t reserved0;
  void (*on_output)(void* ctx, int32_t fd, ry_bytes bytes) RY_NOEXCEPT; /* fd 1 or 2 */
  /* Last, exactly once. exit: NULL unless st == RY_OK. All processes of the command have ended. */
  void (*on_exit)(void* ctx, ry_status st, const ry_sandbox_exit* exit, const ry_error_view* err) RY_NOEXCEPT;
} ry_sandbox_sink;

/* content: borrowed-out; total_size: of the whole file. */
typedef void (*ry_sandbox_read_fn)(void* ctx, ry_status st, ry_bytes content, uint64_t total_size,
                                   const ry_error_view* err) RY_NOEXCEPT;
/* fd: descriptor of a regular file, open for reading; the callback must close it. -1 unless st == RY_OK. */
typedef void (*ry_sandbox_open_fn)(void* ctx, ry_status st, int32_t fd, uint64_t total_size,
                                   const ry_error_view* err) RY_NOEXCEPT;
/* entries_json: [{"name":"a.txt","kind":"file|dir|link|other","size":12,"modified_unix_us":...}], sorted. */
typedef void (*ry_sandbox_list_fn)(void* ctx, ry_status st, ry_str entries_json, const ry_error_view* err) RY_NOEXCEPT;

#define RY_SANDBOX_DELETED 0u
#define RY_SANDBOX_FILE 1u
#define RY_SANDBOX_DIR 2u
#define RY_SANDBOX_LINK 3u

/* An entry of a workspace. */
typedef struct ry_sandbox_entry {
  uint32_t struct_size;
  uint32_t kind; /* RY_SANDBOX_* */
  ry_str path; /* any bytes but NUL; empty: the workspace itself */
  ry_str target; /* of a link */
  uint64_t size; /* of a file */
  uint64_t inode;
  int64_t modified_ns; /* since 1970 */
  int64_t changed_ns; /* ctime of the file system; of the workspace itself: its creation */
  uint32_t mode; /* permission bits, 0777 */
  uint32_t reserved0;
} ry_sandbox_entry;

/* entries: borrowed-out, struct_size bytes apart. The workspace itself comes first, a directory before
 * its contents. Pipes, sockets and devices are omitted. */
typedef void (*ry_sandbox_scan_fn)(void* ctx, ry_status st, const ry_sandbox_entry* entries, size_t n,
                                   const ry_error_view* err) RY_NOEXCEPT;

typedef struct ry_sandbox_driver_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Creates the workspace if it does not exist. [any] */
  ry_status (*ensure)(void* self, ry_str project_id, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* *call is valid until on_exit has returned. [any] */
  ry_status (*run)(void* self, ry_str project_id, const ry_sandbox_command* command, ry_exec* exec,
                   const ry_sandbox_sink* sink, void* ctx, void** call) RY_NOEXCEPT;
  void (*cancel)(void* self, void* call) RY_NOEXCEPT; /* on_exit follows. [exec] */
  /* At most max_bytes from offset. RY_NOT_FOUND, RY_PERMISSION_DENIED (the path is outside the workspace),
   * RY_FAILED_PRECONDITION (a directory). [any] */
  ry_status (*read_file)(void* self, ry_str project_id, ry_str path, uint64_t offset, uint64_t max_bytes, ry_exec* exec,
                         ry_sandbox_read_fn fn, void* ctx) RY_NOEXCEPT;
  /* Replaces a complete file atomically (temporary file, then rename); creates parents. [any] */
  ry_status (*write_file)(void* self, ry_str project_id, ry_str path, ry_bytes content, ry_exec* exec,
                          ry_done done) RY_NOEXCEPT;
  /* Moves a file of the host into the workspace (rename, or copy across devices). RY_ALREADY_EXISTS if the
   * target exists: nothing is replaced. [any] */
  ry_status (*import_file)(void* self, ry_str project_id, ry_str path, ry_str host_path, ry_exec* exec,
                           ry_done done) RY_NOEXCEPT;
  ry_status (*list_files)(void* self, ry_str project_id, ry_str path, ry_exec* exec, ry_sandbox_list_fn fn,
                          void* ctx) RY_NOEXCEPT; /* [any] */
  /* Deletes the workspace and its contents. [any] */
  ry_status (*destroy)(void* self, ry_str project_id, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* Lists the whole workspace. RY_NOT_FOUND: it does not exist; RY_RESOURCE_EXHAUSTED: more than
   * max_entries. [any] */
  ry_status (*scan)(void* self, ry_str project_id, uint64_t max_entries, ry_exec* exec, ry_sandbox_scan_fn fn,
                    void* ctx) RY_NOEXCEPT;
  /* Creates entry->path as the entry describes, and replaces an existing entry; creates parents. A file is moved
   * from host_path (rename, or copy across devices) and gets mode and modified_ns; RY_SANDBOX_DELETED deletes
   * the path recursively. Does not follow a link at the end of the path. [any] */
  ry_status (*place)(void* self, ry_str project_id, const ry_sandbox_entry* entry, ry_str host_path, ry_exec* exec,
                     ry_done done) RY_NOEXCEPT;
  /* For commands with RY_SANDBOX_INTERACTIVE. write: queues a copy; `done` is called when the data has been written to the
   * pipe; RY_RESOURCE_EXHAUSTED if 1 MiB is queued; RY_CANCELLED after the command closed its end. close_stdin: after
   * the queue is written. pause, only inside on_output: no output until resume(). [exec] */
  ry_status (*write)(void* self, void* call, ry_bytes bytes, ry_done done) RY_NOEXCEPT;
  void (*close_stdin)(void* self, void* call) RY_NOEXCEPT;
  void (*pause)(void* self, void* call) RY_NOEXCEPT;
  void (*resume)(void* self, void* call) RY_NOEXCEPT;
  /* Opens a file for reading in chunks, consistently even if it is replaced. May be NULL. [any] */
  ry_status (*open_file)(void* self, ry_str project_id, ry_str path, ry_exec* exec, ry_sandbox_open_fn fn,
                         void* ctx) RY_NOEXCEPT;
} ry_sandbox_driver_v1;

#ifdef __cplusplus
}
#endif
#endif

/* ry/abi.h - the binary interface between the host and a module: core types and the module descriptor.
 *
 * A module is a shared library that exports exactly one symbol, ry_module_entry(). Everything else is accessed through
 * function tables ("interfaces"), which are obtained by a versioned name from the host ("ry.db/1") or from other
 * modules ("accounts/1"), or are offered by the module itself.
 *
 * Rules that hold for every header of this SDK
 *  - C99. No C++ type, allocator, errno, locale, FILE, long, bool, bit-field or enum crosses the boundary.
 *  - Tables and views only grow at their end; `struct_size` is the first member; test a later member with RY_HAS. No
 *    slot of a table is ever NULL; unsupported functions return RY_UNIMPLEMENTED.
 *  - Strings are {ptr,len}, need no NUL, and may have ptr == NULL only when len == 0. They are UTF-8
 *    where they are text; the receiver must not rely on that.
 *  - Ownership is one of: borrowed-in (valid until the call returns; the callee copies), borrowed-out
 *    (valid until the callback returns), handle (created by one call, ended by exactly one call).
 *    No memory is freed by the other side.
 *  - No pointer, handle or callback is NULL unless its comment says that it may be.
 *  - A function that returns ry_status may return, in addition to what its comment names: RY_INVALID_ARGUMENT (an
 *    argument breaks these rules), RY_FAILED_PRECONDITION (a handle that has ended, the wrong phase),
 *    RY_RESOURCE_EXHAUSTED (out of memory), RY_CANCELLED (the host stops) and RY_INTERNAL. Nothing is
 *    written to out parameters and no callback is called then.
 *  - Times are int64_t microseconds since the Unix epoch, UTC; durations are uint64_t milliseconds.
 *  - Thread tags:
 *      [lifecycle]   called on one thread, in order, never concurrently; a module that hangs gets no more calls
 *      [exec]        called on the given executor, never concurrently on one executor; must not block
 *      [any]         any thread, never blocks
 *      [blocking-ok] a worker thread of the host; may block
 *  - Asynchronous calls take an executor and a completion. A non-zero return value means that the operation was not
 *    started and the completion is never called. Zero means that the completion is called exactly once, on that
 *    executor, never inside the starting call; with RY_CANCELLED if the host stops first.
 */
#ifndef RY_ABI_H
#define RY_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* noexcept is part of a function's type since C++17: an unguarded C++ handler does not compile. */
#if defined(__cplusplus) && __cplusplus >= 201703L
#define RY_NOEXCEPT noexcept
#else
#define RY_NOEXCEPT
#endif
#define RY_EXPORT __attribute__((visibility("default")))

#define RY_ABI_MAGIC 0x31595259u /* "YRY1" in memory on little-endian machines */
#define RY_ABI_MAJOR 1u
/* The minor version that a build targets. Define a lower one to run on older hosts: members added later are then
 * hidden. */
#ifndef RY_ABI_MINOR
#define RY_ABI_MINOR 0u
#endif

/* True if *p is long enough to contain `member`. p may be NULL. */
#define RY_HAS(p, type, member) ((p) != NULL && (p)->struct_size >= offsetof(type, member) + sizeof((p)->member))

/* Result of a call: 0, or one of the canonical codes below. Unknown codes mean RY_UNKNOWN. */
typedef int32_t ry_status;
#define RY_OK 0
#define RY_CANCELLED 1 /* the caller, the client or a shutdown ended it */
#define RY_UNKNOWN 2
#define RY_INVALID_ARGUMENT 3 /* wrong regardless of the state of the system */
#define RY_DEADLINE_EXCEEDED 4
#define RY_NOT_FOUND 5
#define RY_ALREADY_EXISTS 6
#define RY_PERMISSION_DENIED 7
#define RY_RESOURCE_EXHAUSTED 8 /* a limit, a queue or a quota is full */
#define RY_FAILED_PRECONDITION 9 /* wrong in this state; do not retry unchanged */
#define RY_ABORTED 10 /* lost a race (serialisation, fence); retry the whole unit of work */
#define RY_OUT_OF_RANGE 11
#define RY_UNIMPLEMENTED 12
#define RY_INTERNAL 13
#define RY_UNAVAILABLE 14 /* try again later */
#define RY_DATA_LOSS 15
#define RY_UNAUTHENTICATED 16

typedef struct ry_str {
  const char* ptr;
  size_t len;
} ry_str;

typedef struct ry_bytes {
  const uint8_t* ptr;
  size_t len;
} ry_bytes;

/* Caller-owned text buffer for the message of a failed lifecycle call. Write at most `cap` bytes and set `len`;
 * truncate longer text. */
typedef struct ry_errbuf {
  char* ptr;
  size_t cap;
  size_t len;
} ry_errbuf;

typedef struct ry_uuid {
  uint8_t bytes[16]; /* network order */
} ry_uuid;

/* Identifies one started operation. Never reused in a process, so a late cancel is a no-op. */
typedef uint64_t ry_op_id;

typedef struct ry_host ry_host; /* one per module instance; valid until destroy() returns */
typedef struct ry_exec ry_exec; /* a serial executor of the host; lives as long as the host */
typedef struct ry_registrar ry_registrar; /* valid only inside create() */

/* An error as seen by the receiver; borrowed-out. */
typedef struct ry_error_view {
  uint32_t struct_size;
  ry_status status;
  ry_str reason; /* stable machine code "runs.not_found"; may be empty */
  ry_str message; /* for people; never contains a secret, a path or a stack trace */
  ry_str detail_json; /* JSON value for the body's "detail"; empty = the message as a string */
  uint32_t http_status; /* 0 = derived from status */
  uint32_t retry_after_s; /* 0 = none */
} ry_error_view;

typedef void (*ry_call_fn)(void* ctx) RY_NOEXCEPT;
/* `err` may be NULL, even if st != RY_OK; borrowed-out. */
typedef void (*ry_done_fn)(void* ctx, ry_status st, const ry_error_view* err) RY_NOEXCEPT;
typedef struct ry_done {
  ry_done_fn fn;
  void* ctx;
} ry_done;
/* Receives bytes during a call; borrowed-out. */
typedef void (*ry_take_fn)(void* ctx, ry_bytes bytes) RY_NOEXCEPT;

typedef struct ry_header {
  ry_str name; /* as received or to be sent; comparison is case-insensitive */
  ry_str value;
} ry_header;

/* Reasons of a cancellation. Treat unknown values like RY_REASON_SHUTDOWN. */
#define RY_REASON_USER 1 /* a user or administrator requested it */
#define RY_REASON_DEADLINE 2
#define RY_REASON_GONE 3 /* the client closed its connection */
#define RY_REASON_SHUTDOWN 4 /* the host drains; release the work to another node */
#define RY_REASON_LEASE_LOST 5 /* another worker owns it now; write nothing more */
#define RY_REASON_OVERLOAD 6
typedef void (*ry_cancel_fn)(void* ctx, int32_t why) RY_NOEXCEPT; /* why: RY_REASON_* */

/* The caller: a verified bearer token or API key. All strings except `subject` may be empty. */
#define RY_ROLE_USER 0u
#define RY_ROLE_ADMIN 1u
#define RY_ROLE_SUPER_ADMIN 2u
typedef struct ry_principal {
  uint32_t struct_size;
  uint32_t role; /* RY_ROLE_* */
  ry_str subject; /* the token's `sub`: for our own accounts the account's UUID */
  ry_str issuer;
  ry_str email;
  ry_str auth_kind; /* "jwt", "api_key", "query_token" */
  ry_str claims_json; /* all claims as one JSON object; "{}" when there are none */
  int64_t expires_unix_us; /* 0 = never */
} ry_principal;

/* ---- the module descriptor -------------------------------------------------------------------- */

/* Something this module needs: an interface of the host ("ry.db/1"), a service ("accounts/1") or an
 * extension point ("llm.provider/1") of another module. */
typedef struct ry_need {
  uint32_t struct_size;
  uint32_t optional; /* 0 = refuse to load without it; 1 = only orders the start */
  ry_str id;
  uint32_t min_size; /* of the interface's table; 0 = any */
  uint32_t reserved0;
} ry_need;

/* The table of a host interface; NULL if the host lacks it, if it is shorter than min_size, or if the needs do not name
 * it (not necessary for core, registrar and services). Valid until destroy(). [any] */
typedef const void* (*ry_get_interface_fn)(const ry_host* host, ry_str id, uint32_t min_size)RY_NOEXCEPT;

#define RY_MODULE_USES_DRAFT 1u /* uses headers under ry/draft: requires the exact host minor that it was built with */
#define RY_MODULE_NO_UNLOAD 2u /* never dlclose (runtimes that cannot stop, e.g. Go) */
#define RY_MODULE_NO_RELOAD 4u /* restart the process to change it */

/* Constant data; valid as long as the library is mapped. */
typedef struct ry_module_v1 {
  uint32_t magic; /* RY_ABI_MAGIC */
  uint32_t struct_size;
  uint32_t abi_major; /* RY_ABI_MAJOR of the headers it was built with */
  uint32_t abi_minor; /* RY_ABI_MINOR it was built with */
  uint32_t min_host_minor; /* the oldest host minor it runs on */
  uint32_t flags; /* RY_MODULE_*; unknown bits: the module is rejected */
  ry_str name; /* [a-z][a-z0-9_]{0,62}; also its settings table and database schema */
  ry_str version; /* of the module, for people */
  ry_str config_schema_json; /* JSON Schema (subset, see ry/if/registrar.h) of its settings; empty = no settings */
  const ry_need* needs;
  size_t n_needs;
  size_t need_stride; /* sizeof(ry_need) of the builder */
  const ry_str* provides; /* services and extension points it will provide or define */
  size_t n_provides;

  /* Builds the module: reads its settings, takes its interfaces, registers everything it serves
   * through ry.registrar/1. No I/O and no threads here: `runyard check` runs it too. `host` and
   * `get_interface` stay valid until destroy() returns; `registrar` and `config_json` only until
   * create() returns. On failure: write a message to err and do not change *self; destroy() is not called. If it takes
   * longer than 30 s (destroy(): 5 s), the module gets no more calls and stays mapped. [lifecycle] */
  ry_status (*create)(const ry_host* host, ry_get_interface_fn get_interface, ry_registrar* registrar,
                      ry_str config_json, void** self, ry_errbuf* err) RY_NOEXCEPT;
  /* Called after every module was created and all migrations ran, dependencies first. From here on, services and
   * drivers may be acquired. May block for a few seconds, at most 60. On failure destroy() follows, without stop().
   * [lifecycle] */
  ry_status (*start)(void* self, ry_errbuf* err) RY_NOEXCEPT;
  /* Its routes get no more requests. Finish or cancel the work in progress, join the module's threads, then call done
   * exactly once (from any thread, even inside stop). After the deadline the host continues without the module and
   * never unmaps the library. [lifecycle] */
  void (*stop)(void* self, int64_t deadline_unix_us, ry_done done) RY_NOEXCEPT;
  /* Last call. No operation is outstanding. [lifecycle] */
  void (*destroy)(void* self) RY_NOEXCEPT;
  /* RY_OK, or RY_UNAVAILABLE with a message that /readyz shows. Must be quick. [any] */
  ry_status (*health)(void* self, ry_errbuf* err) RY_NOEXCEPT;
} ry_module_v1;

/* The only exported symbol. No side effects, callable at any time; never NULL. */
RY_EXPORT const ry_module_v1* ry_module_entry(void);

#ifdef __cplusplus
}
#endif
#endif

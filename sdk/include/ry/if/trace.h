/* ry.trace/1 - the distributed trace of the current work. Every module may use it without naming it in its needs;
 * a host without it returns NULL.
 *
 * The host propagates traces by itself: a request or a job is current while the module's function for it runs, and
 * everything that the function starts (SQL, HTTP, jobs, timers, posted calls) belongs to its trace, with the
 * completions. This interface is for modules that pass work from one chain to another: an entry of a batch that
 * another chain writes resumes inside the trace of that chain, and restores its own trace with enter().
 */
#ifndef RY_IF_TRACE_H
#define RY_IF_TRACE_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_TRACE_1 "ry.trace/1"

typedef struct ry_trace ry_trace; /* ended by release */

typedef struct ry_trace_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* The trace of this thread's current work; NULL: none. [any] */
  ry_trace* (*current)(const ry_host* host)RY_NOEXCEPT;
  /* Sets the trace of this thread until the end of the host's current call into the module; NULL: none. The
   * caller keeps `trace`. [any] */
  void (*enter)(const ry_host* host, const ry_trace* trace) RY_NOEXCEPT;
  /* Ends the handle; NULL: no effect. [any] */
  void (*release)(ry_trace* trace) RY_NOEXCEPT;
} ry_trace_v1;

#ifdef __cplusplus
}
#endif
#endif

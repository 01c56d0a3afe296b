/* ry.trace/1 - which distributed trace the work under way belongs to. Every module may ask for it, without naming it
 * among its needs; a host without it answers NULL.
 *
 * The host carries traces by itself: a request or a job is current while the module's function for it runs,
 * whatever that starts (SQL, HTTP, jobs, timers, posted calls) belongs to it, and so do the completions. This
 * interface is for modules that hand work from one chain to another by themselves: what waits for a batch that
 * somebody else writes is woken inside of that other trace, and says here which one is its own.
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
  /* What this thread works for now; NULL: nothing that is traced. [any] */
  ry_trace* (*current)(const ry_host* host)RY_NOEXCEPT;
  /* What this thread works for from here to the end of the host's present call into the module; NULL: nothing
   * that is traced. `trace` stays the caller's. [any] */
  void (*enter)(const ry_host* host, const ry_trace* trace) RY_NOEXCEPT;
  /* Ends the handle; NULL: no effect. [any] */
  void (*release)(ry_trace* trace) RY_NOEXCEPT;
} ry_trace_v1;

#ifdef __cplusplus
}
#endif
#endif

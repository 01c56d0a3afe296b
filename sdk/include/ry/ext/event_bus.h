/* ry.event_bus/1 - what carries live topics (ry.events/1) from node to node. A point of the host.
 *
 * Without a driver nodes tell each other by a hint through the database that there is something new,
 * and subscribers read the log. A driver carries hints, and bytes ahead of the log, faster. It need
 * not be reliable: whatever it carries is in the log or will be, subscribers put numbered pieces in
 * order themselves, and while state() says that it is away, here or on any other node, the host sends
 * its hints through the database. What a driver owes is never to block, to bound what it queues, and
 * to say so when something may be missing.
 *
 * At most one driver is used: the first by name.
 */
#ifndef RY_EXT_EVENT_BUS_H
#define RY_EXT_EVENT_BUS_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_EVENT_BUS_1 "ry.event_bus/1"

/* The host's side. Every function may be called from any thread between open() and the `done` of
 * close(); strings and bytes are borrowed-in. */
typedef struct ry_bus_sink {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Published by another node; bytes empty: a hint. Never what this node published. [any] */
  void (*message)(void* ctx, ry_str topic, uint64_t cursor, ry_bytes bytes) RY_NOEXCEPT;
  /* A hint that publish() took and that may have reached nobody. [any] */
  void (*lost)(void* ctx, ry_str topic, uint64_t cursor) RY_NOEXCEPT;
  /* Messages of other nodes may be missing: every subscriber looks into its log. [any] */
  void (*missed)(void* ctx) RY_NOEXCEPT;
  /* up: 1 when both directions work. detail: a sentence for people, without secrets. [any] */
  void (*state)(void* ctx, uint32_t up, ry_str detail) RY_NOEXCEPT;
} ry_bus_sink;

typedef struct ry_event_bus_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Begins to work, or to try to; it is away until state() says otherwise. *sink stays valid until the
   * `done` of close(). [lifecycle] */
  ry_status (*open)(void* self, const ry_bus_sink* sink, void* ctx) RY_NOEXCEPT;
  /* `done` once no call to the sink is under way or will follow; from any thread, also inside this
   * call. open() may follow. [lifecycle] */
  void (*close)(void* self, ry_done done) RY_NOEXCEPT;
  /* Takes a copy and sends it to the other nodes; order is kept per topic and thread. The same topic,
   * cursor and kind (hint or bytes) taken twice within two minutes is delivered once, unless
   * it is a hint with the cursor 0. RY_UNAVAILABLE: away; RY_RESOURCE_EXHAUSTED: its queue is full;
   * RY_OUT_OF_RANGE: too large. Never blocks. [any] */
  ry_status (*publish)(void* self, ry_str topic, uint64_t cursor, ry_bytes bytes) RY_NOEXCEPT;
} ry_event_bus_v1;

#ifdef __cplusplus
}
#endif
#endif

/* ry.event_bus/1 - carries live topics (ry.events/1) between nodes. Extension point of the host.
 *
 * Without a driver, a node notifies the others through the database that there are new events, and
 * subscribers read the log. A driver carries these notifications, and bytes ahead of the log, faster. It
 * need not be reliable: everything that it carries is or will be in the log, subscribers put numbered
 * pieces in order themselves, and while state() reports it as down, here or on any other node, the host
 * notifies through the database. A driver must never block, must bound its queues, and must report when
 * messages may be missing.
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
  /* A message of another node; empty bytes: a notification without content. Never a message of this node. [any] */
  void (*message)(void* ctx, ry_str topic, uint64_t cursor, ry_bytes bytes) RY_NOEXCEPT;
  /* A notification that publish() accepted and that may not have reached any node. [any] */
  void (*lost)(void* ctx, ry_str topic, uint64_t cursor) RY_NOEXCEPT;
  /* Messages of other nodes may be missing: every subscriber reads its log. [any] */
  void (*missed)(void* ctx) RY_NOEXCEPT;
  /* up: 1 if both directions work. detail: a message for operators, without secrets. [any] */
  void (*state)(void* ctx, uint32_t up, ry_str detail) RY_NOEXCEPT;
} ry_bus_sink;

typedef struct ry_event_bus_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Starts connecting; the driver counts as down until it calls state(). *sink stays valid until the
   * `done` of close(). [lifecycle] */
  ry_status (*open)(void* self, const ry_bus_sink* sink, void* ctx) RY_NOEXCEPT;
  /* Calls `done` once no call to the sink is in progress or will follow, from any thread, even inside this call. open()
   * may follow. [lifecycle] */
  void (*close)(void* self, ry_done done) RY_NOEXCEPT;
  /* Copies the message and sends it to the other nodes; the order per topic and thread is kept. Two
   * messages with the same topic, cursor and kind (with or without bytes) within two minutes are delivered
   * once, unless the cursor is 0 and there are no bytes. RY_UNAVAILABLE: down; RY_RESOURCE_EXHAUSTED:
   * the queue is full; RY_OUT_OF_RANGE: too large. Never blocks. [any] */
  ry_status (*publish)(void* self, ry_str topic, uint64_t cursor, ry_bytes bytes) RY_NOEXCEPT;
} ry_event_bus_v1;

#ifdef __cplusplus
}
#endif
#endif

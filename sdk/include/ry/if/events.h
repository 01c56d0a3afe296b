/* ry.events/1 - durable domain events between modules, and live topics for streams.
 *
 * Domain events ("run.completed", "account.created") are published inside the publisher's transaction
 * and reach every consumer at least once, usually but not always in the order of
 * commit; consumers must tolerate repeats (the id is stable). SQL functions that publish: sdk/sql/core_events.v1.sql.
 *
 * Live topics carry data that is durable elsewhere or need not be: delivery is at most once and without
 * replay. Subscribers on the publishing node get the bytes immediately; on other nodes, with the default
 * bus, they get a notification (bytes empty) and read the log themselves. With a driver of
 * "ry.event_bus/1" (ry/ext/event_bus.h) they get the bytes there too; a subscriber that misses earlier
 * data reads the log.
 */
#ifndef RY_IF_EVENTS_H
#define RY_IF_EVENTS_H
#include "../abi.h"
#include "db.h"
#include "http.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_EVENTS_1 "ry.events/1"

typedef struct ry_event ry_event; /* an event being handled; ended by ack */
typedef struct ry_subscription ry_subscription; /* ended by unsubscribe */

/* Valid until ack. */
typedef struct ry_event_view {
  uint32_t struct_size;
  uint32_t attempt; /* 1 for the first delivery */
  int64_t id;
  ry_str kind;
  ry_str key; /* the subject, e.g. an account id */
  ry_str payload_json;
  int64_t published_unix_us;
  ry_exec* exec;
} ry_event_view;

/* RY_OK: ack will be called. Otherwise the event is delivered again after the backoff. [exec] */
typedef ry_status (*ry_event_fn)(void* ctx, const ry_event_view* view, ry_event* event) RY_NOEXCEPT;

/* Registered through ry.registrar/1. The consumer starts with events published after its first
 * registration; its position is kept under (module, name). */
typedef struct ry_event_consumer {
  uint32_t struct_size;
  uint32_t flags; /* none defined; must be 0 */
  ry_str name; /* unique within the module */
  ry_str kinds; /* comma-separated kinds or prefixes ending in ".*": "run.completed,payment.*" */
  ry_event_fn handle;
  void* ctx;
} ry_event_consumer;

/* bytes empty: there are new events up to `cursor` (0: unknown); read the log. Borrowed-out. The buffer, if not
 * NULL, contains the same bytes and may be passed on to stream_write_buffer inside the call. [exec] */
typedef void (*ry_live_fn)(void* ctx, ry_str topic, uint64_t cursor, ry_bytes bytes, ry_buffer* buffer) RY_NOEXCEPT;

typedef struct ry_events_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Publishes a domain event, inside tx if given. [any] */
  ry_status (*publish)(const ry_host* host, ry_tx* tx, ry_str kind, ry_str key, ry_str payload_json, ry_exec* exec,
                       ry_done done) RY_NOEXCEPT;
  /* Ends the handle. st != RY_OK: deliver it again, after the backoff. [any] */
  void (*ack)(ry_event* event, ry_status st, const ry_error_view* err) RY_NOEXCEPT;

  /* Subscribes to one topic. fn runs for messages that are published after this call returned. [any] */
  ry_status (*live_subscribe)(const ry_host* host, ry_str topic, ry_exec* exec, ry_live_fn fn, void* ctx,
                              ry_subscription** out) RY_NOEXCEPT;
  /* Releases the handle. If called on the subscription's executor, no call starts after this has returned. [any] */
  void (*live_unsubscribe)(ry_subscription* subscription) RY_NOEXCEPT;
  /* `cursor` grows within a topic. flags: RY_LIVE_*. Order is kept per topic and publishing thread. [any] */
  ry_status (*live_publish)(const ry_host* host, ry_str topic, uint64_t cursor, ry_bytes bytes,
                            uint32_t flags) RY_NOEXCEPT;
  /* 1: there are other nodes and a bus that carries bytes to them, so RY_LIVE_AHEAD has an effect. [any] */
  uint32_t (*live_carries)(const ry_host* host) RY_NOEXCEPT;
} ry_events_v1;

#define RY_LIVE_LOCAL 1u /* this node only */
#define RY_LIVE_WAKEUP 2u /* other nodes only: the bytes were already published locally and are durable now */
/* other nodes only, and only by a bus that carries bytes: they are not in the log yet; a notification follows when
   they are. Without such a bus RY_UNAVAILABLE, which loses nothing */
#define RY_LIVE_AHEAD 4u

#ifdef __cplusplus
}
#endif
#endif

/* notify.orchestrator/1 - who carries notifications to people (point of the module `notifications`).
 *
 * The module decides whether, when and on which channels a user is notified: settings, preferences,
 * quiet hours, digests, suppression, time to live, the outbox, retries, dead letters and the delivery log
 * are its own, and so is the inbox that the service shows. A driver carries one notification to one
 * recipient on the channels it is given, and says how each of them fared. It is chosen by name in
 * notifications.orchestrator; its settings are those of its own module.
 *
 *   trigger(key, epoch 0)  time-out, reset, 409, 429   -> RY_NOTIFY_RETRY      -> the same key and epoch
 *   trigger(key, epoch 0)  500 received                -> RY_NOTIFY_RETRY_NEW  -> key, epoch 1
 *   trigger(key, epoch 1)  taken                       -> RY_NOTIFY_ACCEPTED   -> never again
 *
 * What the module promises: never two triggers of one key at a time, in the whole deployment; a trigger
 * may come again after the driver accepted it, with the same key and epoch, when the process died before
 * that was written down. Calls for different keys come at the same time; of calls about one account's
 * subscriber or tokens there is one at a time, and the last one has the truth.
 *
 * What a driver says of a failure names the cause and never holds a secret of its settings.
 */
#ifndef RY_EXT_NOTIFY_ORCHESTRATOR_H
#define RY_EXT_NOTIFY_ORCHESTRATOR_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_NOTIFY_ORCHESTRATOR_1 "notify.orchestrator/1"

/* Channels, as bits. */
#define RY_NOTIFY_EMAIL 1u
#define RY_NOTIFY_PUSH 2u
#define RY_NOTIFY_IN_APP 4u /* a feed of the driver's own; the service's inbox is written without it */

/* Capabilities of a driver: the channels it carries, and these. Unknown bits are ignored. A driver
 * without one of them is not called for it, and answers RY_UNIMPLEMENTED. */
#define RY_NOTIFY_KEEPS_SUBSCRIBERS 256u /* put_subscriber, forget */
#define RY_NOTIFY_KEEPS_TOKENS 512u /* put_tokens */
#define RY_NOTIFY_WITHDRAWS 1024u /* withdraw */
#define RY_NOTIFY_FOLLOWS 2048u /* follow */
#define RY_NOTIFY_REPORTS 4096u /* read_report */
#define RY_NOTIFY_WHOLE \
  8192u /* cannot omit a channel of a workflow: where some of them are not wanted, the
                                            module lets the driver "builtin" carry the others, if it is there */

/* The recipient. All but account_id may be empty. */
typedef struct ry_notify_subscriber {
  uint32_t struct_size;
  uint32_t reserved0;
  ry_str account_id; /* UUID: the subscriber id */
  ry_str email;
  ry_str name; /* to be displayed */
  ry_str first_name; /* never empty where a notification is triggered: "User" when there is none */
  ry_str phone;
  ry_str avatar; /* URL */
} ry_notify_subscriber;

/* A device that takes push messages. */
typedef struct ry_notify_token {
  uint32_t struct_size;
  uint32_t reserved0;
  ry_str provider; /* "expo", "web-push", "fcm" ... as accepts() took it */
  ry_str token;
  ry_str device_type; /* "mobile", "web" ... as the client said it */
} ry_notify_token;

/* The operator's templates filled in, for drivers that have no texts of their own; plain text unless it
 * says otherwise. */
typedef struct ry_notify_content {
  uint32_t struct_size;
  uint32_t reserved0;
  ry_str title; /* one line: of the push message, the inbox and the mail's subject */
  ry_str body; /* short: of the push message and the inbox */
  ry_str mail_text;
  ry_str mail_html; /* escaped; may be empty */
  ry_str action_url; /* where it leads; may be empty */
} ry_notify_content;

/* One notification for one recipient; borrowed-in. A host of an earlier release passes a shorter struct. */
typedef struct ry_notify_trigger {
  uint32_t struct_size;
  uint32_t channels; /* those that are asked for: a part of the driver's own; never none */
  ry_str workflow; /* "task-completed" ... */
  ry_str key; /* 32 characters of 0-9a-f: names the notification, the same at every attempt */
  uint32_t epoch; /* one more after each RY_NOTIFY_RETRY_NEW: with the key it names one request */
  uint32_t attempt; /* from 1 on; for logs */
  ry_str payload_json; /* the workflow's fields: a JSON object */
  const ry_notify_subscriber* to;
  const ry_notify_content* content;
  const ry_notify_token* tokens; /* of `to`, unless settled before; only with RY_NOTIFY_PUSH */
  size_t n_tokens;
  size_t token_stride; /* from one to the next, in bytes */
  int64_t expires_unix_us; /* of no use after this */
  uint64_t timeout_ms; /* the completion comes within this time */
  uint32_t flags; /* RY_NOTIFY_BULK */
  uint32_t reserved1;
  ry_str
      broadcast; /* UUID of the broadcast that it is a part of; empty: of none. E-mails of one broadcast are held back and
                               withdrawn together: see the event notifications.broadcast */
} ry_notify_trigger;

/* Of ry_notify_trigger: sent to many, or an offer. E-mail of this kind carries a way to unsubscribe and goes behind other mail. */
#define RY_NOTIFY_BULK 1u

/* How it fared on one channel, or on several at once. */
#define RY_NOTIFY_ACCEPTED 1 /* taken; what became of it: follow(), read_report() */
#define RY_NOTIFY_DELIVERED 2 /* known to have arrived */
#define RY_NOTIFY_SKIPPED 3 /* there was nothing to do: no address, no device, no such step */
#define RY_NOTIFY_RETRY 4 /* again with the same key and epoch: no answer, or a busy peer */
#define RY_NOTIFY_RETRY_NEW 5 /* again with the next epoch: a definite answer that says it was not done */
#define RY_NOTIFY_REFUSED 6 /* for good */
#define RY_NOTIFY_GONE \
  7 /* the address is dead: `token` is forgotten; without a token: the peer does not
                                 know the subscriber */
#define RY_NOTIFY_PAUSED \
  8 /* not this notification's fault: credentials or settings are wrong. No attempt
                                 is counted; all others wait, too, for retry_after_s */
#define RY_NOTIFY_THROTTLED \
  9 /* not now: its recipient gets too many messages. No attempt is counted; e-mails of one account and
                                 workflow that are throttled are gathered, and go out as one */

typedef struct ry_notify_result {
  uint32_t struct_size;
  uint32_t channels; /* what it speaks of; never none */
  int32_t result; /* RY_NOTIFY_ACCEPTED..PAUSED */
  uint32_t retry_after_s; /* 0 = the module's back-off */
  ry_str provider; /* who took or refused it: "mail", "expo", "novu"; may be empty */
  ry_str provider_id; /* its name there, for follow(); may be empty */
  ry_str token; /* the device it speaks of; empty = the whole channel */
  ry_str detail; /* one sentence about a failure */
} ry_notify_result;

/* results: borrowed-out, n of them, `stride` bytes apart. A channel asked for that none speaks of is taken as
 * RY_NOTIFY_RETRY. st other than RY_OK: nothing is known, all is RY_NOTIFY_RETRY with err's retry_after_s;
 * RY_CANCELLED: cancelled, not counted as an attempt. */
typedef void (*ry_notify_results_fn)(void* ctx, ry_status st, const ry_notify_result* results, size_t n, size_t stride,
                                     const ry_error_view* err) RY_NOEXCEPT;

/* withdrawn: 1 = nothing of it will be delivered any more; 0 = too late, or unknown. */
typedef void (*ry_notify_withdrawn_fn)(void* ctx, ry_status st, uint32_t withdrawn,
                                       const ry_error_view* err) RY_NOEXCEPT;

/* Something that was accepted: what the driver said of it; borrowed-in. */
typedef struct ry_notify_sent {
  uint32_t struct_size;
  uint32_t channels;
  ry_str key;
  ry_str provider;
  ry_str provider_id;
  ry_str token;
} ry_notify_sent;

/* What a webhook of the peer tells; borrowed-out. Empty and 0 where it does not say. */
typedef struct ry_notify_report {
  uint32_t struct_size;
  uint32_t channels;
  int32_t result; /* RY_NOTIFY_ACCEPTED, DELIVERED, REFUSED or GONE; 0 = nothing about a delivery */
  uint32_t reserved0;
  ry_str type; /* "notification.sent", "notification.failed", "subscriber.created" or the peer's own */
  ry_str key; /* the notification's */
  ry_str account_id;
  ry_str provider;
  ry_str provider_id;
  ry_str token; /* with RY_NOTIFY_GONE: the device that is no more */
  ry_str detail;
} ry_notify_report;
typedef void (*ry_notify_report_fn)(void* ctx, const ry_notify_report* report) RY_NOEXCEPT;

typedef struct ry_notify_orchestrator_v1 {
  uint32_t struct_size;
  uint32_t capabilities;
  /* Does it carry push messages of this provider? RY_OK; RY_INVALID_ARGUMENT with a sentence that names
   * those it does, or what is wrong with the token. Looks at the text only. `name` is called at most once, inside
   * the call, with what stands for the device where its token can be written in several ways; not called:
   * the token itself does. [any] */
  ry_status (*accepts)(void* self, const ry_notify_token* token, ry_take_fn name, void* ctx,
                       ry_errbuf* err) RY_NOEXCEPT;
  /* *call is valid until the completion returned. [any] */
  ry_status (*trigger)(void* self, const ry_notify_trigger* what, ry_exec* exec, ry_notify_results_fn fn, void* ctx,
                       void** call) RY_NOEXCEPT;
  /* Breaks it off; the completion follows, with what is known by then. [exec] */
  void (*cancel)(void* self, void* call) RY_NOEXCEPT;
  /* Withdraws a notification that was accepted and not delivered yet. [any] */
  ry_status (*withdraw)(void* self, ry_str key, ry_exec* exec, ry_notify_withdrawn_fn fn, void* ctx) RY_NOEXCEPT;
  /* The subscriber is as described: made or changed. [any] */
  ry_status (*put_subscriber)(void* self, const ry_notify_subscriber* who, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* The account is no more; nothing of it is kept. RY_OK also when it was not known. [any] */
  ry_status (*forget)(void* self, ry_str account_id, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* All devices of the account with this provider, instead of what was there; none: n = 0. RY_NOT_FOUND: the
   * peer does not know the subscriber; put_subscriber() and another put_tokens() follow. [any] */
  ry_status (*put_tokens)(void* self, ry_str account_id, ry_str provider, const ry_notify_token* tokens, size_t n,
                          size_t stride, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* What became of up to 100 that were accepted, `stride` bytes apart. One result each, in their order: ACCEPTED =
   * nothing new; DELIVERED, REFUSED, GONE. [any] */
  ry_status (*follow)(void* self, const ry_notify_sent* sent, size_t n, size_t stride, ry_exec* exec,
                      ry_notify_results_fn fn, void* ctx) RY_NOEXCEPT;
  /* Reads the body of a webhook that the peer sent; its signature was checked by the module, or is not
   * believed. Calls fn inside the call, once for each thing it tells. RY_INVALID_ARGUMENT: not of this
   * peer. [any] */
  ry_status (*read_report)(void* self, ry_bytes body, ry_notify_report_fn fn, void* ctx) RY_NOEXCEPT;
  /* The public key with which pages subscribe to Web Push (applicationServerKey, base64url): `take` is called once,
   * inside the call. RY_NOT_FOUND: this driver sends no Web Push, now or ever. Optional, may be NULL. [any] */
  ry_status (*web_push_key)(void* self, ry_take_fn take, void* ctx) RY_NOEXCEPT;
} ry_notify_orchestrator_v1;

#ifdef __cplusplus
}
#endif
#endif

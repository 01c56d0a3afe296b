/* notify.orchestrator/1 - delivers notifications to people. Extension point of the module `notifications`.
 *
 * The module decides whether, when and on which channels a user is notified: settings, preferences,
 * quiet hours, digests, suppression, time to live, the outbox, retries, dead letters and the delivery log
 * belong to it, and so does the inbox of the service. A driver delivers one notification to one recipient
 * on the requested channels, and reports the result of each. notifications.orchestrator selects it by
 * name; its settings are those of its own module.
 *
 *   trigger(key, epoch 0)  time-out, reset, 409, 429   -> RY_NOTIFY_RETRY      -> the same key and epoch
 *   trigger(key, epoch 0)  500 received                -> RY_NOTIFY_RETRY_NEW  -> key, epoch 1
 *   trigger(key, epoch 1)  accepted                    -> RY_NOTIFY_ACCEPTED   -> never again
 *
 * Guarantees of the module: there are never two concurrent triggers of one key in the whole deployment. A
 * trigger may be repeated after the driver accepted it, with the same key and epoch, if the process died
 * before the result was stored. Calls for different keys are concurrent; calls about one account's
 * subscriber or tokens are sequential, and the last one is authoritative.
 *
 * The errors of a driver name the cause and never contain a secret of its settings.
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
#define RY_NOTIFY_IN_APP 4u /* an inbox of the driver, in addition to that of the service */

/* Capabilities of a driver: its channels, and these. Unknown bits are ignored. A function whose capability
 * a driver lacks is not called, and returns RY_UNIMPLEMENTED. */
#define RY_NOTIFY_STORES_SUBSCRIBERS 256u /* put_subscriber, forget */
#define RY_NOTIFY_STORES_TOKENS 512u /* put_tokens */
#define RY_NOTIFY_WITHDRAWS 1024u /* withdraw */
#define RY_NOTIFY_FOLLOWS 2048u /* follow */
#define RY_NOTIFY_REPORTS 4096u /* read_report */
/* cannot omit a channel of a workflow: if some channels are not requested, the module uses the driver "builtin" for
   the others, if it is loaded */
#define RY_NOTIFY_ALL_CHANNELS 8192u

/* The recipient. All but account_id may be empty. */
typedef struct ry_notify_subscriber {
  uint32_t struct_size;
  uint32_t reserved0;
  ry_str account_id; /* UUID: the subscriber id */
  ry_str email;
  ry_str name; /* for display */
  ry_str first_name; /* never empty in a trigger: "User" if it is unknown */
  ry_str phone;
  ry_str avatar; /* URL */
} ry_notify_subscriber;

/* A device that receives push messages. */
typedef struct ry_notify_token {
  uint32_t struct_size;
  uint32_t reserved0;
  ry_str provider; /* "expo", "web-push", "fcm" ... as accepts() accepted it */
  ry_str token;
  ry_str device_type; /* "mobile", "web" ... as the client named it */
} ry_notify_token;

/* The content from the operator's templates, for drivers without their own templates; plain text unless stated
 * otherwise. */
typedef struct ry_notify_content {
  uint32_t struct_size;
  uint32_t reserved0;
  ry_str title; /* one line: of the push message, the inbox and the mail's subject */
  ry_str body; /* short: of the push message and the inbox */
  ry_str mail_text;
  ry_str mail_html; /* escaped; may be empty */
  ry_str action_url; /* target of the link; may be empty */
} ry_notify_content;

/* One notification for one recipient; borrowed-in. A host of an earlier release passes a shorter struct. */
typedef struct ry_notify_trigger {
  uint32_t struct_size;
  uint32_t channels; /* the requested channels: a subset of the driver's; never empty */
  ry_str workflow; /* "task-completed" ... */
  ry_str key; /* 32 characters of 0-9a-f: identifies the notification; the same in every attempt */
  uint32_t epoch; /* increases after each RY_NOTIFY_RETRY_NEW: key and epoch identify one request */
  uint32_t attempt; /* from 1 on; for logs */
  ry_str payload_json; /* the workflow's fields: a JSON object */
  const ry_notify_subscriber* to;
  const ry_notify_content* content;
  const ry_notify_token* tokens; /* of `to`, except those already settled; only with RY_NOTIFY_PUSH */
  size_t n_tokens;
  size_t token_stride; /* from one to the next, in bytes */
  int64_t expires_unix_us; /* must not be delivered later */
  uint64_t timeout_ms; /* the driver must complete within this time */
  uint32_t flags; /* RY_NOTIFY_BULK */
  uint32_t reserved1;
  ry_str broadcast; /* UUID of its broadcast; empty: it belongs to none. E-mails of one broadcast are held back and
                               withdrawn together: see the event notifications.broadcast */
} ry_notify_trigger;

/* Of ry_notify_trigger: sent to many recipients, or marketing. Such e-mail has an unsubscribe link and lower priority
 * than other mail. */
#define RY_NOTIFY_BULK 1u

/* The result on one channel, or on several. */
#define RY_NOTIFY_ACCEPTED 1 /* accepted; later results come by follow() or read_report() */
#define RY_NOTIFY_DELIVERED 2 /* known to have arrived */
#define RY_NOTIFY_SKIPPED 3 /* nothing to do: no address, no device, no such step */
#define RY_NOTIFY_RETRY 4 /* retry with the same key and epoch: no answer, or a busy peer */
#define RY_NOTIFY_RETRY_NEW 5 /* retry with the next epoch: the peer answered that it did not execute the request */
#define RY_NOTIFY_REFUSED 6 /* permanently */
/* the address is invalid: the module deletes `token`; without a token: the peer does not know the subscriber */
#define RY_NOTIFY_GONE 7
/* the driver's credentials or settings are invalid. Not counted as an attempt; all notifications wait for
   retry_after_s */
#define RY_NOTIFY_PAUSED 8
/* the recipient gets too many messages. Not counted as an attempt; throttled e-mails of one account and workflow are
   combined into one */
#define RY_NOTIFY_THROTTLED 9

typedef struct ry_notify_result {
  uint32_t struct_size;
  uint32_t channels; /* that the result is about; never empty */
  int32_t result; /* RY_NOTIFY_ACCEPTED..PAUSED */
  uint32_t retry_after_s; /* 0 = the module's backoff */
  ry_str provider; /* that accepted or refused it: "mail", "expo", "novu"; may be empty */
  ry_str provider_id; /* the provider's id, for follow(); may be empty */
  ry_str token; /* the device that it is about; empty = the whole channel */
  ry_str detail; /* the reason of a failure */
} ry_notify_result;

/* results: borrowed-out, n of them, `stride` bytes apart. A requested channel without a result counts as
 * RY_NOTIFY_RETRY. st other than RY_OK: the outcome is unknown, all channels count as RY_NOTIFY_RETRY with err's
 * retry_after_s; RY_CANCELLED: cancelled, not counted as an attempt. */
typedef void (*ry_notify_results_fn)(void* ctx, ry_status st, const ry_notify_result* results, size_t n, size_t stride,
                                     const ry_error_view* err) RY_NOEXCEPT;

/* withdrawn: 1 = it will not be delivered any more; 0 = too late, or unknown. */
typedef void (*ry_notify_withdrawn_fn)(void* ctx, ry_status st, uint32_t withdrawn,
                                       const ry_error_view* err) RY_NOEXCEPT;

/* An accepted notification, with the driver's result; borrowed-in. */
typedef struct ry_notify_sent {
  uint32_t struct_size;
  uint32_t channels;
  ry_str key;
  ry_str provider;
  ry_str provider_id;
  ry_str token;
} ry_notify_sent;

/* A report from a webhook of the peer; borrowed-out. Empty and 0: not contained in the report. */
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
  ry_str token; /* with RY_NOTIFY_GONE: the device that no longer exists */
  ry_str detail;
} ry_notify_report;
typedef void (*ry_notify_report_fn)(void* ctx, const ry_notify_report* report) RY_NOEXCEPT;

typedef struct ry_notify_orchestrator_v1 {
  uint32_t struct_size;
  uint32_t capabilities;
  /* Whether the driver delivers push messages of this provider. RY_OK; RY_INVALID_ARGUMENT with a message that names
   * its providers, or the fault in the token. Checks only the text. `name` is called at most once, inside the call,
   * with a stable name of the device if its token has several spellings; not called: the token identifies the device.
   * [any] */
  ry_status (*accepts)(void* self, const ry_notify_token* token, ry_take_fn name, void* ctx,
                       ry_errbuf* err) RY_NOEXCEPT;
  /* *call is valid until the completion has returned. [any] */
  ry_status (*trigger)(void* self, const ry_notify_trigger* what, ry_exec* exec, ry_notify_results_fn fn, void* ctx,
                       void** call) RY_NOEXCEPT;
  /* Cancels a trigger; the completion follows with the results so far. [exec] */
  void (*cancel)(void* self, void* call) RY_NOEXCEPT;
  /* Withdraws an accepted notification that is not delivered yet. [any] */
  ry_status (*withdraw)(void* self, ry_str key, ry_exec* exec, ry_notify_withdrawn_fn fn, void* ctx) RY_NOEXCEPT;
  /* Creates or updates the subscriber. [any] */
  ry_status (*put_subscriber)(void* self, const ry_notify_subscriber* who, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* The account was deleted: deletes all its data. RY_OK even if it is unknown. [any] */
  ry_status (*forget)(void* self, ry_str account_id, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* Replaces all devices of the account with this provider; n = 0: none. RY_NOT_FOUND: the peer does not know
   * the subscriber; the module calls put_subscriber() and put_tokens() again. [any] */
  ry_status (*put_tokens)(void* self, ry_str account_id, ry_str provider, const ry_notify_token* tokens, size_t n,
                          size_t stride, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* The current results of up to 100 accepted notifications, `stride` bytes apart. One result each, in order: ACCEPTED
   * = unchanged; DELIVERED, REFUSED, GONE. [any] */
  ry_status (*follow)(void* self, const ry_notify_sent* sent, size_t n, size_t stride, ry_exec* exec,
                      ry_notify_results_fn fn, void* ctx) RY_NOEXCEPT;
  /* Parses the body of a webhook of the peer. The module has checked its signature, or treats the reports
   * as unverified. Calls fn inside the call, once for each report. RY_INVALID_ARGUMENT: not from this
   * peer. [any] */
  ry_status (*read_report)(void* self, ry_bytes body, ry_notify_report_fn fn, void* ctx) RY_NOEXCEPT;
  /* The public key with which pages subscribe to Web Push (applicationServerKey, base64url): calls `take` once,
   * inside the call. RY_NOT_FOUND: this driver never sends Web Push. Optional, may be NULL. [any] */
  ry_status (*web_push_key)(void* self, ry_take_fn take, void* ctx) RY_NOEXCEPT;
} ry_notify_orchestrator_v1;

#ifdef __cplusplus
}
#endif
#endif

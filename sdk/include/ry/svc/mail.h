/* mail/1 - electronic mail through an outbox (provided by the module `mail`).
 *
 * SQL function for use inside another module's statements and transactions: sdk/sql/mail.v1.sql. A module that provides
 * mail/1 must define it. Pass the result of seal_bodies() as body_text, so that the database contains no link or code
 * of the bodies. A caller that enqueues must hold the service mail/1: without it there is no such schema.
 */
#ifndef RY_SVC_MAIL_H
#define RY_SVC_MAIL_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_SVC_MAIL_1 "mail/1"

/* States of a message. */
#define RY_MAIL_QUEUED 0 /* not accepted by the relay yet; attempts continue */
#define RY_MAIL_SENT 1 /* the relay accepted it */
#define RY_MAIL_REFUSED 2 /* the relay permanently rejects this recipient or this message */
#define RY_MAIL_DEAD 3 /* dead-lettered: too many attempts, or too late */
#define RY_MAIL_SUPPRESSED 4 /* the recipient unsubscribed after it was enqueued */
#define RY_MAIL_UNKNOWN 5 /* no such message (any more) */

typedef struct ry_mail_outcome {
  uint32_t struct_size;
  int32_t state; /* RY_MAIL_* */
  uint32_t attempts;
  int32_t reply; /* SMTP code of the relay's last reply; 0: none */
} ry_mail_outcome;

/* outcomes: borrowed-out, n of them in the order asked for, `stride` bytes apart; NULL unless RY_OK. */
typedef void (*ry_mail_outcome_fn)(void* ctx, ry_status st, const ry_mail_outcome* outcomes, size_t n, size_t stride,
                                   const ry_error_view* err) RY_NOEXCEPT;

typedef struct ry_mail_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* 1 if a relay is configured; otherwise messages wait until they are dead-lettered. [any] */
  uint32_t (*has_relay)(void* self) RY_NOEXCEPT;
  /* RY_OK, or RY_INVALID_ARGUMENT for an address that enqueue would reject. Except in deployment.mode = local also
   * RY_FAILED_PRECONDITION: its domain cannot receive mail from the internet (a single label, .example, .test, .local).
   * [any] */
  ry_status (*check_address)(void* self, ry_str address) RY_NOEXCEPT;
  /* Messages were committed: polls now instead of at the next interval. [any] */
  void (*wake)(void* self) RY_NOEXCEPT;
  /* The outcomes of messages. Waits until none of them is queued any more, at most wait_ms (at most 30 000).
   * At most 100 ids. Completion on exec, never inside the call. [any] */
  ry_status (*outcomes)(void* self, const ry_uuid* ids, size_t n, uint64_t wait_ms, ry_exec* exec,
                        ry_mail_outcome_fn fn, void* ctx) RY_NOEXCEPT;
  /* Both bodies in one text for body_text of mail.enqueue(), encrypted with the deployment's key. body_html: empty =
   * none. take is called once, inside the call, if the answer is RY_OK. [any] */
  ry_status (*seal_bodies)(void* self, ry_str body_text, ry_str body_html, ry_take_fn take, void* ctx) RY_NOEXCEPT;
} ry_mail_v1;

#ifdef __cplusplus
}
#endif
#endif

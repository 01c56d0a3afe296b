// All SQL statements of this module. Every function throws ry::error if the database reports an error.
#pragma once

#include <ry/svc/mail.h>
#include <ry/cpp/page.hpp>

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace mail {

// The answer of the outbox to a worker that begins an attempt.
struct attempt_start {
  enum class action { send, wait, done };
  action next = action::done;  // done: there is nothing left to send
  std::uint64_t wait_ms = 0;
  std::string address, subject, text, html;
  bool bulk = false;
  std::string token;  // token of the recipient's subscription; empty: the message needs none
};

// The stored result of an attempt.
struct attempt_result {
  std::string state;  // "queued": to be retried; otherwise a final state
  int code = 0;
  std::string reply;
  bool maybe_duplicate = false;
  bool bounced = false;
};

// A message with unencrypted bodies.
struct unsealed_message {
  ry::uuid id;
  std::optional<std::string> text, html;
};

// The state of one address in one category.
struct subscription {
  std::string address, category;
  bool suppressed = false;  // nothing is sent
};

// Filter for the list of suppressions; empty members match everything.
struct suppression_filter {
  std::string reason, category, address;
};

// Filter for the suppressions that an admin lifts in one request; members without a value match everything.
struct lift_filter {
  std::string reason;
  std::optional<std::vector<std::string>> addresses;
  std::optional<std::string> domain, since, until;
};

// A worker's lease on its job.
struct lease {
  std::int64_t job = 0;
  std::int64_t fence = 0;
};

class repository {
 public:
  explicit repository(const ry::context& ctx) : ctx_(ctx) {}

  ry::task<void> configure(settings s) const;
  // Both throw RY_ABORTED if another worker now owns the job.
  ry::task<attempt_start> begin_attempt(ry::uuid message, lease owner, std::int64_t gap_ms) const;
  ry::task<void> end_attempt(ry::uuid message, lease owner, attempt_result result) const;

  // Messages with unencrypted bodies, ordered by id.
  ry::task<std::vector<unsealed_message>> unsealed_messages(std::int64_t limit) const;
  // Does nothing if the bodies were changed or erased in the meantime.
  ry::task<void> replace_bodies(unsealed_message original, std::string sealed) const;

  // In the order of `ids`.
  ry::task<std::vector<ry_mail_outcome>> outcomes(std::vector<std::string> ids) const;

  // `token`: from an unsubscribe link. Return nullopt or false if there is no such token.
  ry::task<std::optional<subscription>> find_subscription(ry::uuid token) const;
  ry::task<bool> set_subscribed(ry::uuid token, bool subscribed) const;
  // Applies an account's preference for a category; see the SQL function.
  ry::task<void> apply_preference(std::string address, std::string category, bool wanted) const;
  // state: "paused", "cancelled"; any other value resumes the broadcast.
  ry::task<void> set_broadcast_state(std::string id, std::string state) const;

  // Messages whose delivery has ended, newest first.
  ry::task<ry::page_of_rows> list(std::string state, std::optional<ry::uuid> before, std::int64_t limit) const;
  // Actions of the administrator `actor`; both publish an audit event.
  ry::task<bool> requeue(std::string actor, ry::uuid message) const;
  // Returns false if there was no suppression.
  ry::task<bool> lift(std::string actor, std::string address) const;
  ry::task<ry::page_of_rows> suppressions(suppression_filter filter, std::optional<ry::uuid> before,
                                          std::int64_t limit) const;
  // Returns the number of lifted suppressions.
  ry::task<std::int64_t> lift_suppressions(std::string actor, lift_filter filter) const;
  // Moves messages whose time to live has expired to the dead letters, and deletes messages that ended long ago.
  ry::task<void> purge_expired(std::int64_t keep_days) const;

 private:
  const ry::context& ctx_;
};

}  // namespace mail

// All SQL of this module. Every function throws ry::error if the database reports an error.
#pragma once

#include <ry/svc/mail.h>
#include <ry/cpp/page.hpp>

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace mail {

// What the outbox returns to a worker that begins an attempt.
struct turn {
  enum class kind { send, wait, over };
  kind what = kind::over;
  std::uint64_t wait_ms = 0;
  std::string address, subject, text, html;
  bool bulk = false;
  std::string token;  // token of the recipient's subscription; empty: the message needs none
};

// The stored result of an attempt.
struct ending {
  std::string state;  // "queued": to be retried; otherwise a final state
  int code = 0;
  std::string reply;
  bool maybe_duplicate = false;
  bool bounced = false;
};

// A message with unencrypted bodies.
struct plain_message {
  ry::uuid id;
  std::optional<std::string> text, html;
};

// The state of one address in one category.
struct subscription {
  std::string address, category;
  bool out = false;  // nothing is sent
};

// Filter for the list of suppressions; empty members match everything.
struct suppression_filter {
  std::string reason, category, address;
};

// The suppressions that an admin lifts at once; members without a value match everything.
struct bulk_lift {
  std::string reason;
  std::optional<std::vector<std::string>> addresses;
  std::optional<std::string> domain, since, until;
};

// The job of a worker.
struct lease {
  std::int64_t job = 0;
  std::int64_t fence = 0;
};

class repository {
 public:
  explicit repository(const ry::context& ctx) : ctx_(ctx) {}

  ry::task<void> configure(settings s) const;
  // Both throw RY_ABORTED if another worker holds the job now.
  ry::task<turn> begin_attempt(ry::uuid message, lease by, std::int64_t gap_ms) const;
  ry::task<void> end_attempt(ry::uuid message, lease by, ending how) const;

  // Messages with unencrypted bodies, ordered by id.
  ry::task<std::vector<plain_message>> plain_messages(std::int64_t most) const;
  // Does nothing if the bodies were changed or erased meanwhile.
  ry::task<void> replace_bodies(plain_message was, std::string sealed) const;

  // Ordered by id.
  ry::task<std::vector<ry_mail_outcome>> outcomes(std::vector<std::string> ids) const;

  // By the token of a link; nullopt or false: there is no such token.
  ry::task<std::optional<subscription>> find_subscription(ry::uuid token) const;
  ry::task<bool> set_subscribed(ry::uuid token, bool subscribed) const;
  // Applies an account's preference for a category; see the SQL function.
  ry::task<void> follow_preference(std::string address, std::string category, bool wanted) const;
  // state: paused, cancelled, or anything else to continue.
  ry::task<void> hold_broadcast(std::string id, std::string state) const;

  // Newest first by the time they ended.
  ry::task<ry::page_of_rows> list(std::string state, std::optional<ry::uuid> before, std::int64_t limit) const;
  // Acts of `actor`, with audit entries.
  ry::task<bool> requeue(std::string actor, ry::uuid message) const;
  // False: there was no suppression.
  ry::task<bool> lift(std::string actor, std::string address) const;
  ry::task<ry::page_of_rows> suppressions(suppression_filter only, std::optional<ry::uuid> before,
                                          std::int64_t limit) const;
  // Returns their number.
  ry::task<std::int64_t> lift_many(std::string actor, bulk_lift what) const;
  // Moves messages that no worker handles any more to the dead letters, and removes messages that ended long ago.
  ry::task<void> tidy(std::int64_t keep_days) const;

 private:
  const ry::context& ctx_;
};

}  // namespace mail

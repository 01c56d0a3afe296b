// All SQL of this module. Every function throws ry::error when the database says no.
#pragma once

#include <ry/svc/mail.h>
#include <ry/cpp/page.hpp>

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace mail {

// What the outbox says to a worker that wants to send a message.
struct turn {
  enum class kind { send, wait, over };
  kind what = kind::over;
  std::uint64_t wait_ms = 0;
  std::string address, subject, text, html;
  bool bulk = false;
  std::string token;  // of the recipient's subscription; empty: the message needs none
};

// How an attempt is written down.
struct ending {
  std::string state;  // "queued": to be tried again; else a final one
  int code = 0;
  std::string reply;
  bool maybe_duplicate = false;
  bool bounced = false;
};

// A message whose bodies are not sealed.
struct plain_message {
  ry::uuid id;
  std::optional<std::string> text, html;
};

// The state of one address in one category.
struct subscription {
  std::string address, category;
  bool out = false;  // nothing is sent
};

// Of the list of suppressions; empty members do not narrow it.
struct suppression_filter {
  std::string reason, category, address;
};

// Which suppressions an admin lifts at once; members without a value do not narrow them.
struct bulk_lift {
  std::string reason;
  std::optional<std::vector<std::string>> addresses;
  std::optional<std::string> domain, since, until;
};

// The job that a worker holds.
struct lease {
  std::int64_t job = 0;
  std::int64_t fence = 0;
};

class repository {
 public:
  explicit repository(const ry::context& ctx) : ctx_(ctx) {}

  ry::task<void> configure(settings s) const;
  // Both throw RY_ABORTED when the job is another worker's by now.
  ry::task<turn> begin_attempt(ry::uuid message, lease by, std::int64_t gap_ms) const;
  ry::task<void> end_attempt(ry::uuid message, lease by, ending how) const;

  // Messages whose bodies are not sealed yet, in the order of their ids.
  ry::task<std::vector<plain_message>> plain_messages(std::int64_t most) const;
  // Does nothing if the bodies have changed or were erased meanwhile.
  ry::task<void> replace_bodies(plain_message was, std::string sealed) const;

  // In the order of the ids.
  ry::task<std::vector<ry_mail_outcome>> outcomes(std::vector<std::string> ids) const;

  // By the token of a link; nullopt and false: there is no such token.
  ry::task<std::optional<subscription>> find_subscription(ry::uuid token) const;
  ry::task<bool> set_subscribed(ry::uuid token, bool subscribed) const;
  // What preferences of an account say of a category; see the SQL function.
  ry::task<void> follow_preference(std::string address, std::string category, bool wanted) const;
  // state: paused, cancelled, or anything else to let it go on.
  ry::task<void> hold_broadcast(std::string id, std::string state) const;

  // Newest first by the time they ended.
  ry::task<ry::page_of_rows> list(std::string state, std::optional<ry::uuid> before, std::int64_t limit) const;
  // Acts of `actor`, told to the audit.
  ry::task<bool> requeue(std::string actor, ry::uuid message) const;
  // False: nothing stood in the way.
  ry::task<bool> lift(std::string actor, std::string address) const;
  ry::task<ry::page_of_rows> suppressions(suppression_filter only, std::optional<ry::uuid> before,
                                          std::int64_t limit) const;
  // Their number.
  ry::task<std::int64_t> lift_many(std::string actor, bulk_lift what) const;
  // Gives up what nobody works on any more, removes what ended long ago.
  ry::task<void> tidy(std::int64_t keep_days) const;

 private:
  const ry::context& ctx_;
};

}  // namespace mail

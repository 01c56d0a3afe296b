// All SQL of this module. Every function throws ry::error when the database says no.
#pragma once

#include <ry/cpp/page.hpp>

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace referrals {

struct refreshed {
  std::string old_code, new_code;
};

// How one address of an invitation fared in the outbox.
struct invited {
  std::string address;
  std::string outcome;  // queued, own, invited, limit, suppressed, throttled
  std::optional<ry::uuid> mail;
  std::int64_t wait_s = 0;  // with "limit"
};

struct person {
  std::string email, name;
  bool suspended = false;  // its code
};

// The number of referrals in one state, for the metrics.
struct tally {
  std::string state;  // pending, paid, void
  std::string reason;  // as in the history; empty: paid
  std::int64_t referrals = 0, referrer_credits = 0, referee_credits = 0;
};

class repository {
 public:
  explicit repository(const ry::context& ctx) : ctx_(ctx) {}

  ry::task<void> configure(settings s) const;

  // The account's code; made when it has none.
  ry::task<std::string> code_of(ry::uuid account) const;
  ry::task<refreshed> refresh(ry::uuid account) const;
  // Whose valid code this is.
  struct code_owner {
    ry::uuid account;
    ry::uuid alias;  // identifies the owner to anonymous clients without the account id
  };
  ry::task<std::optional<code_owner>> owner_of(std::string code) const;

  ry::task<void> came_from(ry::uuid account, std::string network) const;

  // See referrals.attach() for the outcome.
  ry::task<std::string> attach(ry::uuid account, std::string code, std::optional<std::string> network) const;
  // These referees qualified: what is due for it is paid, in one transaction.
  ry::task<void> award(std::vector<std::string> accounts) const;
  // These referees qualified. True: there is a referral that may be due now.
  ry::task<bool> qualify(std::vector<std::string> accounts) const;
  ry::task<void> finished_run(ry::uuid account) const;
  // Settles up to `most` open referrals that are due. How many were looked at.
  ry::task<std::size_t> settle_due(std::int64_t most) const;

  ry::task<std::string> stats(ry::uuid account) const;  // a JSON object
  ry::task<std::string> history(ry::uuid account, std::int64_t limit, std::int64_t offset) const;

  // The referral through which the account came, as a JSON object; empty: it came by itself.
  ry::task<std::string> received(ry::uuid account) const;
  // What the next friend of the account brings to either side; zeros at the limit.
  struct offer {
    std::int64_t referrer = 0, referee = 0;
  };
  ry::task<offer> offer_of(ry::uuid account) const;
  // Of a deleted account.
  ry::task<void> forget(ry::uuid account) const;

  ry::task<std::optional<person>> find_person(ry::uuid account) const;
  ry::task<std::vector<invited>> invite(ry::uuid account, std::vector<std::string> addresses, std::string subject,
                                        std::string bodies) const;
  ry::task<void> uninvite(std::vector<std::string> mails) const;
  // Referrers whose counter, referrals and ledger do not agree, each as a JSON object; at most `most`.
  ry::task<std::vector<std::string>> unbalanced(std::int64_t most) const;
  // Counts all referrals.
  ry::task<std::vector<tally>> tallies() const;
  // Those that count for no limit any more.
  ry::task<void> forget_invitations() const;

  ry::task<void> review(std::string actor, ry::uuid referral, std::string act, std::string reason) const;
  ry::task<void> suspend(std::string actor, std::string code, std::string act, std::string reason) const;
  ry::task<ry::page_of_rows> flagged(std::optional<ry::uuid> before, std::int64_t limit) const;

 private:
  // How many of them were decided.
  ry::task<std::size_t> settle(std::vector<std::string> ids) const;

  const ry::context& ctx_;
};

}  // namespace referrals

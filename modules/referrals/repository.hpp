// All SQL of this module. Every function throws ry::error if the database reports an error.
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

// The result for one address of an invitation.
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

  // The account's code; creates one if it has none.
  ry::task<std::string> code_of(ry::uuid account) const;
  ry::task<refreshed> refresh(ry::uuid account) const;
  // The owner of a valid code.
  struct code_owner {
    ry::uuid account;
    ry::uuid alias;  // identifies the owner to anonymous clients without the account id
  };
  ry::task<std::optional<code_owner>> owner_of(std::string code) const;

  ry::task<void> came_from(ry::uuid account, std::string network) const;

  // See referrals.attach() for the outcome.
  ry::task<std::string> attach(ry::uuid account, std::string code, std::optional<std::string> network) const;
  // These referees qualified: pays what is due for them in one transaction.
  ry::task<void> award(std::vector<std::string> accounts) const;
  // These referees qualified. True: a referral may be due now.
  ry::task<bool> qualify(std::vector<std::string> accounts) const;
  ry::task<void> finished_run(ry::uuid account) const;
  // Settles up to `most` open referrals that are due. Returns the number of examined ones.
  ry::task<std::size_t> settle_due(std::int64_t most) const;

  ry::task<std::string> stats(ry::uuid account) const;  // a JSON object
  ry::task<std::string> history(ry::uuid account, std::int64_t limit, std::int64_t offset) const;

  // The referral that brought the account, as a JSON object; empty: none.
  ry::task<std::string> received(ry::uuid account) const;
  // What the next friend of the account earns for either side; zero at the limit.
  struct offer {
    std::int64_t referrer = 0, referee = 0;
  };
  ry::task<offer> offer_of(ry::uuid account) const;
  // After an account was deleted.
  ry::task<void> forget(ry::uuid account) const;

  ry::task<std::optional<person>> find_person(ry::uuid account) const;
  ry::task<std::vector<invited>> invite(ry::uuid account, std::vector<std::string> addresses, std::string subject,
                                        std::string bodies) const;
  ry::task<void> uninvite(std::vector<std::string> mails) const;
  // Referrers whose counter, referrals and ledger disagree, each as a JSON object; at most `most`.
  ry::task<std::vector<std::string>> unbalanced(std::int64_t most) const;
  // Counts all referrals.
  ry::task<std::vector<tally>> tallies() const;
  // Removes entries that no longer count for any limit.
  ry::task<void> forget_invitations() const;

  ry::task<void> review(std::string actor, ry::uuid referral, std::string act, std::string reason) const;
  ry::task<void> suspend(std::string actor, std::string code, std::string act, std::string reason) const;
  ry::task<ry::page_of_rows> flagged(std::optional<ry::uuid> before, std::int64_t limit) const;

 private:
  // Returns the number of decided ones.
  ry::task<std::size_t> settle(std::vector<std::string> ids) const;

  const ry::context& ctx_;
};

}  // namespace referrals

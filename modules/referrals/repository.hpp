// All SQL statements of this module. Every function throws ry::error if the database reports an error.
#pragma once

#include <ry/cpp/page.hpp>

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace referrals {

struct refreshed_codes {
  std::string old_code, new_code;
};

// The result of an invitation of one address.
struct invitation_result {
  std::string address;
  std::string outcome;  // queued, own, invited, limit, suppressed, throttled
  std::optional<ry::uuid> mail;
  std::int64_t wait_s = 0;  // only if outcome is "limit"
};

struct inviter_info {
  std::string email, name;
  bool suspended = false;  // the referral code is suspended
};

// The number of referrals in one state, for the metrics.
struct referral_count {
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
  ry::task<refreshed_codes> refresh(ry::uuid account) const;
  // The owner of a valid code; nullopt if the code is not valid.
  struct code_owner {
    ry::uuid account;
    ry::uuid alias;  // identifies the owner to anonymous clients without the account id
  };
  ry::task<std::optional<code_owner>> owner_of(std::string code) const;

  ry::task<void> record_network(ry::uuid account, std::string network) const;

  // See referrals.attach() for the outcome.
  ry::task<std::string> attach(ry::uuid account, std::string code, std::optional<std::string> network) const;
  // Call it when these referees qualify. Pays the referrals that are due, in one transaction.
  ry::task<void> award(std::vector<std::string> accounts) const;
  // Marks these referees as qualified without paying. Returns true if a referral may be due now.
  ry::task<bool> qualify(std::vector<std::string> accounts) const;
  ry::task<void> record_first_run(ry::uuid account) const;
  // Awards up to `limit` referrals that are due. Returns the number of examined ones.
  ry::task<std::size_t> settle_due(std::int64_t limit) const;

  ry::task<std::string> stats(ry::uuid account) const;  // a JSON object
  ry::task<std::string> history(ry::uuid account, std::int64_t limit, std::int64_t offset) const;

  // The referral through which the account signed up, as a JSON object; empty: none.
  ry::task<std::string> received(ry::uuid account) const;
  // The credits that the next referral of the account earns for each side; zero at the limit.
  struct offer {
    std::int64_t referrer = 0, referee = 0;
  };
  ry::task<offer> offer_of(ry::uuid account) const;
  // Call it after an account was deleted: its pending referrals become void.
  ry::task<void> delete_account(ry::uuid account) const;

  ry::task<std::optional<inviter_info>> find_inviter(ry::uuid account) const;
  ry::task<std::vector<invitation_result>> invite(ry::uuid account, std::vector<std::string> addresses,
                                                  std::string subject, std::string bodies) const;
  ry::task<void> withdraw_invitations(std::vector<std::string> mails) const;
  // Up to `limit` referrers whose counter, referrals and ledger do not match, each as a JSON object.
  ry::task<std::vector<std::string>> unbalanced(std::int64_t limit) const;
  // Counts all referrals by state and reason.
  ry::task<std::vector<referral_count>> count_referrals() const;
  // Deletes invitations that no longer count towards any limit.
  ry::task<void> purge_invitations() const;

  ry::task<void> review(std::string actor, ry::uuid referral, std::string action, std::string reason) const;
  ry::task<void> suspend(std::string actor, std::string code, std::string action, std::string reason) const;
  ry::task<ry::page_of_rows> flagged(std::optional<ry::uuid> before, std::int64_t limit) const;

 private:
  // Returns the number of decided referrals.
  ry::task<std::size_t> settle(std::vector<std::string> ids) const;

  const ry::context& ctx_;
};

}  // namespace referrals

#include "referral_metrics.hpp"

#include <algorithm>
#include <map>

namespace referrals {
namespace {

constexpr std::int64_t min_pause_ms = 60'000;
// The pause is this many times as long as the last count took, so that counting takes at most 1 % of the time.
constexpr std::int64_t pause_factor = 100;

constexpr const char* invitation_outcomes[] = {"sent",    "queued", "failed",     "own",
                                               "invited", "limit",  "suppressed", "throttled"};
constexpr const char* sign_up_outcomes[] = {"successful",   "pending", "flagged",          "cap_reached",    "void",
                                            "unknown_code", "self",    "already_referred", "unknown_account"};
constexpr const char* pending_reasons[] = {"not_qualified", "on_hold", "under_review", "code_suspended", "cap_reached"};
constexpr const char* void_reasons[] = {"code_refreshed",     "self_referral",   "same_mailbox",
                                        "disposable_address", "account_deleted", "revoked"};

ry::metric invitations(const ry::context& ctx, const std::string& outcome) {
  return ctx.metrics().counter("invitations_total", "Requested invitations", {{"outcome", outcome}});
}

ry::metric sign_ups(const ry::context& ctx, const std::string& outcome) {
  return ctx.metrics().counter("sign_ups_total", "Sign-ups with a referral code", {{"outcome", outcome}});
}

ry::metric pending(const ry::context& ctx, const std::string& reason) {
  return ctx.metrics().gauge("pending", "Accepted referrals that have not been paid yet", {{"reason", reason}});
}

ry::metric voided(const ry::context& ctx, const std::string& reason) {
  return ctx.metrics().gauge("void", "Refused referrals, which earn nothing", {{"reason", reason}});
}

ry::metric paid(const ry::context& ctx) {
  return ctx.metrics().gauge("paid", "Referrals that were paid and not revoked");
}

ry::metric credits(const ry::context& ctx, const std::string& side) {
  return ctx.metrics().gauge("paid_credits", "Credits that were paid for referrals and not revoked", {{"side", side}});
}

}  // namespace

referral_metrics::referral_metrics(const ry::context& ctx, const repository& repo) : ctx_(ctx), repo_(repo) {
  // The series start at 0.
  for (const char* outcome : invitation_outcomes) (void)invitations(ctx, outcome);
  for (const char* outcome : sign_up_outcomes) (void)sign_ups(ctx, outcome);
  set_gauges({});
}

void referral_metrics::start() {
  (void)ctx_.spawn(update_gauges());
}

void referral_metrics::invitation(const std::string& outcome) const {
  invitations(ctx_, outcome).add();
}

void referral_metrics::sign_up(const std::string& outcome) const {
  sign_ups(ctx_, outcome).add();
}

void referral_metrics::set_gauges(const std::vector<referral_count>& all) const {
  std::map<std::string, double> pending_counts, void_counts;
  for (const char* reason : pending_reasons) pending_counts[reason] = 0;
  for (const char* reason : void_reasons) void_counts[reason] = 0;
  referral_count paid_count;
  for (const referral_count& t : all) {
    const auto n = static_cast<double>(t.referrals);
    if (t.state == "pending") pending_counts[t.reason] = n;
    if (t.state == "void") void_counts[t.reason] = n;
    if (t.state == "paid") paid_count = t;
  }
  for (const auto& [reason, n] : pending_counts) pending(ctx_, reason).set(n);
  for (const auto& [reason, n] : void_counts) voided(ctx_, reason).set(n);
  paid(ctx_).set(static_cast<double>(paid_count.referrals));
  credits(ctx_, "referrer").set(static_cast<double>(paid_count.referrer_credits));
  credits(ctx_, "referee").set(static_cast<double>(paid_count.referee_credits));
}

ry::task<void> referral_metrics::update_gauges() {
  for (;;) {
    const auto start = ctx_.mono_us();
    try {
      const auto all = co_await repo_.count_referrals();
      set_gauges(all);
    } catch (const ry::error& e) {
      // An unreachable database has its own metrics and log lines.
      if (e.status() != RY_UNAVAILABLE && e.status() != RY_CANCELLED)
        ctx_.log_error("referrals could not be counted for the metrics", e);
    }
    // Applies after a failure as well: a count that a time limit aborted has read as much as a successful one.
    const auto pause_ms = std::max(min_pause_ms, (ctx_.mono_us() - start) / 1000 * pause_factor);
    const auto slept = co_await ctx_.sleep(static_cast<std::uint64_t>(pause_ms));
    if (!slept) co_return;
  }
}

}  // namespace referrals

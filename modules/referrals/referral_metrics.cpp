#include "referral_metrics.hpp"

#include <algorithm>
#include <map>

namespace referrals {
namespace {

constexpr std::int64_t shortest_pause_ms = 60'000;
// The pause is this many times as long as the last count, so that counting takes at most 1 % of the time.
constexpr std::int64_t pause_per_count = 100;

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
  // The series begin with 0.
  for (const char* outcome : invitation_outcomes) (void)invitations(ctx, outcome);
  for (const char* outcome : sign_up_outcomes) (void)sign_ups(ctx, outcome);
  show({});
}

void referral_metrics::start() {
  (void)ctx_.spawn(watch());
}

void referral_metrics::invitation(const std::string& outcome) const {
  invitations(ctx_, outcome).add();
}

void referral_metrics::sign_up(const std::string& outcome) const {
  sign_ups(ctx_, outcome).add();
}

void referral_metrics::show(const std::vector<tally>& all) const {
  std::map<std::string, double> waiting, refused;
  for (const char* reason : pending_reasons) waiting[reason] = 0;
  for (const char* reason : void_reasons) refused[reason] = 0;
  tally done;
  for (const tally& t : all) {
    const auto n = static_cast<double>(t.referrals);
    if (t.state == "pending") waiting[t.reason] = n;
    if (t.state == "void") refused[t.reason] = n;
    if (t.state == "paid") done = t;
  }
  for (const auto& [reason, n] : waiting) pending(ctx_, reason).set(n);
  for (const auto& [reason, n] : refused) voided(ctx_, reason).set(n);
  paid(ctx_).set(static_cast<double>(done.referrals));
  credits(ctx_, "referrer").set(static_cast<double>(done.referrer_credits));
  credits(ctx_, "referee").set(static_cast<double>(done.referee_credits));
}

ry::task<void> referral_metrics::watch() {
  for (;;) {
    const auto begun = ctx_.mono_us();
    try {
      const auto all = co_await repo_.tallies();
      show(all);
    } catch (const ry::error& e) {
      // An unreachable database has its own metrics and log lines.
      if (e.status() != RY_UNAVAILABLE && e.status() != RY_CANCELLED)
        ctx_.log_error("referrals could not be counted for the metrics", e);
    }
    // Also after a failure: a count that was aborted by a time limit has read as much as a successful one.
    const auto pause_ms = std::max(shortest_pause_ms, (ctx_.mono_us() - begun) / 1000 * pause_per_count);
    const auto slept = co_await ctx_.sleep(static_cast<std::uint64_t>(pause_ms));
    if (!slept) co_return;
  }
}

}  // namespace referrals

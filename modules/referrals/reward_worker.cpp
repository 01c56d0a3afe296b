#include "reward_worker.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <ry/cpp/trace.hpp>
#include <utility>

#include "code.hpp"
#include "json/members.hpp"

namespace referrals {
namespace {

namespace json = boost::json;

constexpr std::int64_t batch_size = 200;
constexpr std::int64_t max_reported = 20;  // per check

}  // namespace

void reward_worker::add_to(ry::registrar& reg) {
  // Subscribe only to the events that the rule needs, because each event is a job.
  std::string kinds = "account.created,account.deleted";
  if (settings_.qualify == "email_verified") kinds += ",account.verified";
  if (settings_.qualify == "first_run") kinds += ",run.completed";
  reg.subscribe("progress", kinds, this, &reward_worker::on_event);
  ry::job_options o;
  o.cron = "* * * * *";
  o.concurrency = 1;
  reg.job("referrals.settle", this, &reward_worker::settle, o);
  o.cron = "23 * * * *";
  reg.job("referrals.tidy", this, &reward_worker::clean_up, o);
  o.cron = "41 3 * * *";
  reg.job("referrals.check", this, &reward_worker::check, o);
}

ry::task<void> reward_worker::on_event(ry::event e) {
  const auto account = ry::uuid::parse(e.key());
  if (!account) co_return;
  if (e.kind() == "account.created") {
    co_await on_account_created(*account, std::string(e.payload()));
  } else if (e.kind() == "account.deleted") {
    co_await repo_.delete_account(*account);
  } else if (e.kind() == "account.verified") {
    co_await award_in_batch(*account);
  } else {
    co_await repo_.record_first_run(*account);
    co_await award_in_batch(*account);
  }
}

ry::task<void> reward_worker::on_account_created(ry::uuid account, std::string payload) {
  co_await repo_.code_of(account);
  json::error_code bad;
  const auto doc = json::parse(payload, bad);
  if (bad || !doc.is_object()) co_return;
  std::optional<std::string> network;
  if (auto text = module_json::text_of(doc.get_object(), "network"); !text.empty()) network = std::move(text);
  if (network) co_await repo_.record_network(account, *network);
  const auto code = normalize_code(module_json::text_of(doc.get_object(), "referral_code"));
  if (code.empty()) co_return;
  const auto outcome = co_await repo_.attach(account, code, std::move(network));
  metrics_.sign_up(outcome);
  ctx_.debug("an account signed up with a code", {{"account", account}, {"outcome", outcome}});
}

ry::task<void> reward_worker::award_in_batch(ry::uuid account) {
  co_await ctx_.switch_to(exec_);
  if (!next_) next_ = std::make_shared<award_batch>();
  const auto joined = next_;
  const ry::trace trace = ry::trace::current(ctx_);
  joined->accounts.push_back(account.to_string());
  if (!working_) {
    const ry::trace_switch during(ctx_, ry::trace::none(ctx_));  // the batch belongs to several events
    working_ = ctx_.spawn(award_batches(), exec_);
  }
  if (!working_) throw ry::unavailable("module.stopping", "The module is stopping");
  (co_await joined->committed.wait()).value();
  trace.enter();
  if (joined->failure) throw *joined->failure;
}

ry::task<void> reward_worker::award_batches() {
  // Lets callers that are about to join the batch do so first.
  (co_await ctx_.sleep(0)).value();
  while (next_) {
    const auto batch = std::exchange(next_, nullptr);
    std::optional<ry::error> failure;
    try {
      co_await repo_.award(batch->accounts);
    } catch (...) {
      failure = ry::current_error();
    }
    const bool batch_rejected = failure && failure->status() != RY_UNAVAILABLE && failure->status() != RY_CANCELLED;
    if (batch_rejected) {
      // One invalid element fails the batch: mark all as qualified, and pay them one by one.
      ctx_.log_error("a batch of referrals could not be awarded", *failure);
      failure = co_await award_individually(batch->accounts);
    }
    batch->failure = failure;
    batch->committed.set();
  }
  working_ = false;
}

ry::task<std::optional<ry::error>> reward_worker::award_individually(std::vector<std::string> accounts) {
  try {
    const bool any = co_await repo_.qualify(std::move(accounts));
    if (any) co_await repo_.settle_due(batch_size);
  } catch (...) {
    co_return ry::current_error();
  }
  co_return std::nullopt;
}

ry::task<ry::job_outcome> reward_worker::clean_up(ry::job) {
  co_await repo_.purge_invitations();
  co_return ry::job_outcome::done();
}

ry::task<ry::job_outcome> reward_worker::check(ry::job) {
  const auto mismatches = co_await repo_.unbalanced(max_reported);
  for (const auto& mismatch : mismatches) {
    ctx_.log_error("the counter, referrals and ledger of a referrer do not match",
                   ry::error(RY_DATA_LOSS, "referrals.unbalanced", mismatch));
  }
  co_return ry::job_outcome::done();
}

ry::task<ry::job_outcome> reward_worker::settle(ry::job) {
  std::size_t n = 1;
  while (n != 0) n = co_await repo_.settle_due(batch_size);
  co_return ry::job_outcome::done();
}

}  // namespace referrals

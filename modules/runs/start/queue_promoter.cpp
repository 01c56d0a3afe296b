#include "start/queue_promoter.hpp"

#include <boost/json.hpp>

namespace runs {
namespace {

// The named string members of job arguments. Throws if one is missing.
std::vector<std::string> string_members(std::string_view json, std::initializer_list<std::string_view> names) {
  const boost::json::value value = boost::json::parse(json);
  std::vector<std::string> out;
  for (const std::string_view name : names) out.emplace_back(value.at(name).as_string());
  return out;
}

}  // namespace

ry::task<ry::job_outcome> queue_promoter::sweep(ry::job) {
  const std::vector<std::string> waiting = (co_await repo_.accounts_waiting()).value();
  for (const std::string& account : waiting) co_await admit(account);
  co_return ry::job_outcome::done();
}

ry::task<void> queue_promoter::plan_changed(ry::event event) {
  co_await admit(std::string(event.key()));
}

ry::task<ry::job_outcome> queue_promoter::interrupt(ry::job job) {
  const std::vector<std::string> args = string_members(job.args(), {"account_id", "thread_id", "run_id"});
  const std::vector<std::string> before = (co_await repo_.runs_before(args[1], args[2])).value();
  for (const std::string& id : before) (void)co_await stopper_.stop_run(args[0], id);
  co_return ry::job_outcome::done();
}

// The plan can change until the database holds the account's lock: repeats until the limit matches the tier.
ry::task<void> queue_promoter::admit(std::string account) {
  std::string tier;
  std::int64_t slots = 0;
  for (;;) {
    const std::optional<std::string> current_tier = (co_await repo_.admit_by_plan(account, tier, slots)).value();
    if (!current_tier) break;
    tier = *current_tier;
    slots = accounts_->tier(accounts_.self(), ry::str(tier))->concurrent_runs;
  }
  ctx_.jobs().wake("runs");
}

}  // namespace runs

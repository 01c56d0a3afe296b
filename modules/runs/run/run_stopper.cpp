#include "run/run_stopper.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "error_response.hpp"
#include "run/waiting.hpp"

namespace runs {
namespace {

// Time that a stop waits for the run's worker before it force-finishes the run.
constexpr std::int64_t stop_wait_us = 500'000;
constexpr std::uint64_t status_poll_ms = 20;

}  // namespace

ry::task<std::string> run_stopper::stop_run(std::string account, std::string id) {
  const std::int64_t deadline_us = ctx_.mono_us() + stop_wait_us;
  const ry::uuid uuid = *ry::uuid::parse(id);
  const std::vector<std::string> webhooks = config_.webhooks_for("stopped");
  ry::result<std::optional<stop_answer>> answer = co_await repo_.request_stop(account, id, webhooks);
  if (!answer.value()) throw refusal(404, "Run not found");
  std::string status = (*answer)->status;
  if ((*answer)->ended) metrics_.ended.add("user_stop");
  const char* label = (*answer)->ended ? "forced" : status != "running" ? "over" : "worker";
  const std::shared_ptr<live_run> live = live_.find(uuid);
  if (live) {
    co_await ctx_.switch_to(live->exec);
    // If the run has ended without this worker, the worker must not write anything more.
    live->stop.interrupt(status == "running" ? RY_REASON_USER : RY_REASON_LEASE_LOST);
    while (status == "running" && !live->events.ended() && ctx_.mono_us() < deadline_us)
      co_await wait_for(ctx_, live->events.over,
                        static_cast<std::uint64_t>(std::max<std::int64_t>(deadline_us - ctx_.mono_us(), 1000)) / 1000);
    if (live->progress.final_status != "running") {
      metrics_.stops.add(label);
      co_return live->progress.final_status;
    }
  }
  while (status == "running" && ctx_.mono_us() < deadline_us) {
    ry::result<std::string> now = co_await repo_.status_of(id);
    status = now.value();
    if (status == "running") (void)co_await ctx_.sleep(status_poll_ms);
  }
  if (status == "running") {
    label = "forced";
    ry::result<std::string> forced = co_await repo_.force_stop(id, webhooks);
    status = std::move(forced).value();
    if (live) live->stop.interrupt(RY_REASON_LEASE_LOST);
    if (status == "stopped") metrics_.ended.add("user_stop");
  }
  if (status.empty()) throw refusal(404, "Run not found");  // the thread was deleted meanwhile
  metrics_.stops.add(label);
  // The stop may have created webhook jobs, and the job of a run that waited for this one.
  if (status == "stopped") {
    ctx_.jobs().wake("webhooks");
    ctx_.jobs().wake("runs");
  }
  // Includes this node, because readers here may follow a run of another node.
  (void)ctx_.events().live_publish(topic_of(uuid), 0, {}, 0);
  co_return status;
}

}  // namespace runs

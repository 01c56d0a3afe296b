#include "start/placement.hpp"

#include <algorithm>

#include "error_response.hpp"

namespace runs {
namespace {

constexpr std::uint64_t queue_check_interval_ms = 1000;
constexpr std::uint32_t full_retry_after_s = 5;
constexpr std::uint64_t retry_interval_ms = 10;
constexpr int max_attempts = 30;  // afterwards another node may have room

}  // namespace

void placement::start(std::string node_id) {
  node_id_ = std::move(node_id);
  (void)ctx_.spawn(poll_queue(), ctx_.pick_exec());
}

// While runs wait, the last tenth of the permits is reserved for them: otherwise later starts would overtake them.
placement::way placement::decide(std::int64_t starting) const {
  if (draining_) return way::queue;
  const std::int64_t reserved = queued_ > 0 || claimed_ > 0 ? std::max<std::int64_t>(1, config_.max_live_runs / 10) : 0;
  return taken(starting) < config_.max_live_runs - reserved ? way::here : way::queue;
}

placement::ticket placement::take() {
  const way goes = decide(starting_.fetch_add(1, std::memory_order_relaxed));
  if (goes == way::here) return ticket(goes, this);
  starting_.fetch_sub(1, std::memory_order_relaxed);
  return ticket(goes, nullptr);
}

ry::task<std::optional<placement::ticket>> placement::place_for_claimed(ry::cancel_token until) {
  std::optional<ticket> got;
  bool counted = false;
  for (int i = 0; i < max_attempts && !until.cancelled(); ++i) {
    if (taken(starting_.fetch_add(1, std::memory_order_relaxed)) < config_.max_live_runs) {
      got.emplace(ticket(way::here, this));
      break;
    }
    starting_.fetch_sub(1, std::memory_order_relaxed);
    if (!std::exchange(counted, true)) claimed_.fetch_add(1, std::memory_order_relaxed);
    const ry::result<void> slept = co_await ctx_.sleep(retry_interval_ms);
    if (!slept) break;
  }
  if (counted) claimed_.fetch_sub(1, std::memory_order_relaxed);
  co_return got;
}

bool placement::has_room(std::string_view tier) const {
  return decide(starting_) == way::here || queue_has_room(tier);
}

bool placement::queue_has_room(std::string_view tier) const {
  const auto share = config_.queue_percent.find(std::string(tier));
  const std::int64_t percent = share == config_.queue_percent.end() ? 100 : share->second;
  return queued_ < config_.max_queued_runs * percent / 100;
}

void placement::refuse() const {
  count_.starts.add("queue_full");
  throw refusal(503, "Too many runs are waiting; try again later",
                R"({"message":"Too many runs are waiting; try again later","error_code":"QUEUE_FULL"})")
      .with_retry_after(full_retry_after_s);
}

ry::task<void> placement::poll_queue() {
  for (;;) {
    ry::result<queue_state> queue = co_await repo_.look_at_queue(node_id_, config_.max_queued_runs + 1);
    if (queue) {
      queued_ = queue->queued;
      count_.queued.set(static_cast<double>(queue->queued));
      draining_ = queue->draining;
    }
    ry::result<void> slept = co_await ctx_.sleep(queue_check_interval_ms);
    if (!slept) co_return;
  }
}

}  // namespace runs

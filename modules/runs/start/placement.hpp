// Admission of starts: a run starts on this node now, waits in the queue that all nodes share, or gets a 503 because
// too many runs wait. The known queue length is at most one second old, plus the runs that this node has queued since.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "run/live_run.hpp"
#include "run_metrics.hpp"
#include "settings/settings.hpp"
#include "store/repository.hpp"

namespace runs {

class placement {
 public:
  placement(const ry::context& ctx, const repository& repo, const settings& config, const registry& live,
            const run_metrics& count)
      : ctx_(ctx), repo_(repo), config_(config), live_(live), count_(count) {}

  // Begins to poll the queue length.
  void start(std::string node_id);

  enum class way { here, queue };
  // The decision for one start. While it exists, it holds a permit on this node, even before the run is live.
  class ticket {
   public:
    ticket(ticket&& o) noexcept : goes(o.goes), of_(std::exchange(o.of_, nullptr)) {}
    ticket& operator=(ticket&& o) noexcept {
      std::swap(goes, o.goes);
      std::swap(of_, o.of_);
      return *this;
    }
    ~ticket() {
      if (of_ != nullptr) of_->starting_.fetch_sub(1, std::memory_order_relaxed);
    }
    way goes;

   private:
    friend class placement;
    ticket(way goes, placement* of) : goes(goes), of_(of) {}
    placement* of_;
  };
  ticket take();
  // A permit for a job claimed from the queue: claiming does not count starts in progress. Empty: no permit became free
  // in time, or `until` was cancelled. While this task waits, new starts do not take the last permits.
  ry::task<std::optional<ticket>> place_for_claimed(ry::cancel_token until);
  // Whether fewer runs wait than this tier's share of the queue allows.
  bool queue_has_room(std::string_view tier) const;
  // Whether this node has a free permit, or the queue has room.
  bool has_room(std::string_view tier) const;
  // Throws the 503 with Retry-After for a start for which there is no room. The start has had no effect.
  [[noreturn]] void refuse() const;
  void note_queued() { queued_.fetch_add(1, std::memory_order_relaxed); }

 private:
  ry::task<void> poll_queue();
  std::int64_t taken(std::int64_t starting) const { return static_cast<std::int64_t>(live_.size()) + starting; }
  // The decision while `starting` other starts are in progress.
  way decide(std::int64_t starting) const;

  const ry::context& ctx_;
  const repository& repo_;
  const settings& config_;
  const registry& live_;
  const run_metrics& count_;
  std::string node_id_;
  std::atomic<std::int64_t> queued_{0}, starting_{0}, claimed_{0};  // claimed_: claimed jobs that wait for a permit
  std::atomic<bool> draining_{false};
};

}  // namespace runs

// Where a start goes: to this node at once, into the queue that all nodes share, or nowhere, because too
// many wait. What is known of the queue is as old as the last look, a second at most, plus what this node
// added since.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "figures.hpp"
#include "live_run.hpp"
#include "repository.hpp"
#include "settings.hpp"

namespace runs {

class placement {
 public:
  placement(const ry::context& ctx, const repository& repo, const settings& config, const registry& live,
            const figures& count)
      : ctx_(ctx), repo_(repo), config_(config), live_(live), count_(count) {}

  // Begins to look at the queue.
  void start(std::string node_id);

  enum class way { here, queue };
  // The way of one start. While it lives, its place here is taken, though its run is not live yet.
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
  // A place for a job that was claimed from the queue, which does not know of starts that are on their way: empty when it
  // got none for a while, or `until` was called off. Whoever starts meanwhile leaves it the last ones.
  ry::task<std::optional<ticket>> place_for_claimed(ry::cancel_token until);
  // Fewer runs wait than those of this tier may find.
  bool queue_has_room(std::string_view tier) const;
  // This node has a place, or the queue room.
  bool has_room(std::string_view tier) const;
  // The 503 with Retry-After of a start that finds none. Nothing has been done for it then.
  [[noreturn]] void refuse() const;
  void note_queued() { queued_.fetch_add(1, std::memory_order_relaxed); }

 private:
  ry::task<void> watch();
  std::int64_t taken(std::int64_t starting) const { return static_cast<std::int64_t>(live_.size()) + starting; }
  // When so many are on their way already.
  way where(std::int64_t starting) const;

  const ry::context& ctx_;
  const repository& repo_;
  const settings& config_;
  const registry& live_;
  const figures& count_;
  std::string node_id_;
  std::atomic<std::int64_t> queued_{0}, starting_{0}, claimed_{0};  // the last: jobs without a place
  std::atomic<bool> draining_{false};
};

}  // namespace runs

// Fair semaphore for commands in sandboxes: limits the commands in progress on this node, in total and per account. A
// permit goes to the waiting account, below its own limit, that holds the fewest permits; among equals, to the one
// served longest ago.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>
#include <utility>

#include "stream/live_run.hpp"

namespace runs {

class command_semaphore {
 public:
  // 0: no limit.
  command_semaphore(const ry::context& ctx, std::int64_t all, std::int64_t per_account)
      : ctx_(ctx), all_(all), per_account_(per_account) {}

  // A permit; its destructor releases it.
  class place {
   public:
    place() = default;
    place(command_semaphore& of, const ry::uuid& account) : of_(&of), account_(account) {}
    place(place&& o) noexcept : of_(std::exchange(o.of_, nullptr)), account_(o.account_) {}
    place& operator=(place&&) = delete;
    ~place() {
      if (of_ != nullptr) of_->leave(account_);
    }
    explicit operator bool() const noexcept { return of_ != nullptr; }

   private:
    command_semaphore* of_ = nullptr;
    ry::uuid account_;
  };
  // On the run's executor. Empty if the run is interrupted while it waits.
  ry::task<place> take(std::shared_ptr<live_run> run);

 private:
  struct waiting;
  using line = std::deque<std::shared_ptr<waiting>>;
  struct use {
    std::int64_t taken = 0, waiting = 0;
    std::uint64_t served = 0;  // serial number of its last permit
  };
  bool fits(const use& of) const;
  void give(use& to);
  line::iterator next_in_line();
  void forget_idle(const std::string& account);
  void leave(const ry::uuid& account);

  const ry::context& ctx_;
  const std::int64_t all_, per_account_;
  std::mutex mutex_;
  std::int64_t taken_ = 0;
  std::uint64_t turn_ = 0;
  std::map<std::string, use> accounts_;  // with permits or waiters
  line line_;
};

}  // namespace runs

// Fair semaphore for commands in sandboxes: limits the commands in progress on this node, in total and per account. Of
// the waiting accounts that are below their limit, the one with the fewest permits gets the next permit; among equals,
// the one that was served longest ago.
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

#include "run/live_run.hpp"

namespace runs {

class command_semaphore {
 public:
  // 0: no limit.
  command_semaphore(const ry::context& ctx, std::int64_t total, std::int64_t per_account)
      : ctx_(ctx), total_(total), per_account_(per_account) {}

  // A permit; its destructor releases it.
  class place {
   public:
    place() = default;
    place(command_semaphore& of, const ry::uuid& account) : of_(&of), account_(account) {}
    place(place&& o) noexcept : of_(std::exchange(o.of_, nullptr)), account_(o.account_) {}
    place& operator=(place&&) = delete;
    ~place() {
      if (of_ != nullptr) of_->release(account_);
    }
    explicit operator bool() const noexcept { return of_ != nullptr; }

   private:
    command_semaphore* of_ = nullptr;
    ry::uuid account_;
  };
  // Waits for a permit, on the run's executor. Empty if the run is interrupted while it waits.
  ry::task<place> take(std::shared_ptr<live_run> run);

 private:
  struct waiter;
  using wait_queue = std::deque<std::shared_ptr<waiter>>;
  struct account_usage {
    std::int64_t taken = 0, waiting = 0;
    std::uint64_t served = 0;  // serial number of its last permit
  };
  bool has_permit_for(const account_usage& of) const;
  void grant(account_usage& to);
  wait_queue::iterator next_waiter();
  void erase_if_idle(const std::string& account);
  void release(const ry::uuid& account);

  const ry::context& ctx_;
  const std::int64_t total_, per_account_;
  std::mutex mutex_;
  std::int64_t taken_ = 0;
  std::uint64_t last_served_ = 0;
  std::map<std::string, account_usage> accounts_;  // accounts with permits or waiters
  wait_queue queue_;
};

}  // namespace runs

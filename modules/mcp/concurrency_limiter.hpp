// Concurrency limiter per account: each discovery and call holds a permit; further requests wait in order of arrival.
// Requests of operators have an empty account and do not wait. Any thread; must outlive its permits.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include <ry/ry.hpp>

namespace mcp {

class concurrency_limiter {
 public:
  concurrency_limiter(const ry::context& ctx, std::size_t permits_per_account)
      : ctx_(ctx), max_permits_(permits_per_account) {}
  concurrency_limiter(const concurrency_limiter&) = delete;
  concurrency_limiter& operator=(const concurrency_limiter&) = delete;

  // The destructor returns the permit.
  class permit {
   public:
    permit(concurrency_limiter& limiter, std::string account) noexcept
        : limiter_(&limiter), account_(std::move(account)) {}
    permit(permit&& other) noexcept
        : limiter_(std::exchange(other.limiter_, nullptr)), account_(std::move(other.account_)) {}
    permit& operator=(permit&&) = delete;
    ~permit() {
      if (limiter_ != nullptr) limiter_->release(account_);
    }

   private:
    concurrency_limiter* limiter_;
    std::string account_;
  };

  // Waits for the next free permit, first come, first served. Throws RY_CANCELLED if the coroutine chain is cancelled
  // first.
  ry::task<permit> acquire(std::string account);

 private:
  // A request that waits: its coroutine sleeps, and the release of a permit cancels the sleep.
  struct waiter {
    bool granted = false;
    ry_op_id sleep = 0;
  };
  struct account_state {
    std::size_t permits = 0;  // in use
    std::deque<waiter*> waiting;
  };
  // Returns false if the waiter was queued instead.
  bool try_acquire(const std::string& account, waiter& w);
  ry_status sleep(waiter& w, ry_exec* exec, ry_done done, ry_op_id* op);
  bool granted(const waiter& w);
  // Returns true if the permit was granted in the meantime.
  bool remove_waiter(const std::string& account, waiter& w) noexcept;
  void release(const std::string& account) noexcept;

  const ry::context& ctx_;
  const std::size_t max_permits_;
  std::mutex mutex_;
  std::unordered_map<std::string, account_state> accounts_;  // only accounts with permits in use
};

}  // namespace mcp

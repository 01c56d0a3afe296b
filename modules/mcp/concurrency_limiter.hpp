// Concurrency limiter per account: each discovery and call holds a permit, and a request without one waits in order of
// arrival. Requests of operators have no account (an empty one) and do not wait. Any thread; must outlive its permits.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include <ry/ry.hpp>

namespace mcp {

class concurrency_limiter {
 public:
  concurrency_limiter(const ry::context& ctx, std::size_t of_one_account) : ctx_(ctx), most_(of_one_account) {}
  concurrency_limiter(const concurrency_limiter&) = delete;
  concurrency_limiter& operator=(const concurrency_limiter&) = delete;

  // A permit; the destructor returns it.
  class one {
   public:
    one(concurrency_limiter& of, std::string account) noexcept : of_(&of), account_(std::move(account)) {}
    one(one&& other) noexcept : of_(std::exchange(other.of_, nullptr)), account_(std::move(other.account_)) {}
    one& operator=(one&&) = delete;
    ~one() {
      if (of_ != nullptr) of_->leave(account_);
    }

   private:
    concurrency_limiter* of_;
    std::string account_;
  };

  // Waits for the next free permit, first come, first served. Throws RY_CANCELLED if the chain is cancelled first.
  ry::task<one> take(std::string account);

 private:
  // A request that waits: its chain sleeps, and the release of a permit cancels the sleep.
  struct waiter {
    bool granted = false;
    ry_op_id sleep = 0;
  };
  struct share {
    std::size_t taken = 0;
    std::deque<waiter*> waiting;
  };
  bool enter(const std::string& account, waiter& w);
  ry_status sleep(waiter& w, ry_exec* exec, ry_done done, ry_op_id* op);
  bool granted(const waiter& w);
  // True if the permit was granted in the meantime.
  bool leave_queue(const std::string& account, waiter& w) noexcept;
  void leave(const std::string& account) noexcept;

  const ry::context& ctx_;
  const std::size_t most_;
  std::mutex mutex_;
  std::unordered_map<std::string, share> of_;  // only accounts with permits in use
};

}  // namespace mcp

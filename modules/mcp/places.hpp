// How much may be done at the same time for one account: each discovery and call has a place, and what finds none
// waits for its turn. What operators ask about belongs to no account (an empty one) and does not wait.
// Any thread; lifetime: longer than every place.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include <ry/ry.hpp>

namespace mcp {

class places {
 public:
  places(const ry::context& ctx, std::size_t of_one_account) : ctx_(ctx), most_(of_one_account) {}
  places(const places&) = delete;
  places& operator=(const places&) = delete;

  // A place until it is destroyed.
  class one {
   public:
    one(places& of, std::string account) noexcept : of_(&of), account_(std::move(account)) {}
    one(one&& other) noexcept : of_(std::exchange(other.of_, nullptr)), account_(std::move(other.account_)) {}
    one& operator=(one&&) = delete;
    ~one() {
      if (of_ != nullptr) of_->leave(account_);
    }

   private:
    places* of_;
    std::string account_;
  };

  // The next free place, first come, first served. RY_CANCELLED when the chain is called off first.
  ry::task<one> take(std::string account);

 private:
  // One that waits, in its chain: it sleeps, and who hands over a place ends the sleep.
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
  // True: the place was granted meanwhile.
  bool give_up(const std::string& account, waiter& w) noexcept;
  void leave(const std::string& account) noexcept;

  const ry::context& ctx_;
  const std::size_t most_;
  std::mutex mutex_;
  std::unordered_map<std::string, share> of_;  // of the accounts that have any
};

}  // namespace mcp

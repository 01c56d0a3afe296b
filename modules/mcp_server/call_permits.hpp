// Limits the number of requests of an account that wait for a run on this node. Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <ry/cpp/types.hpp>
#include <utility>

namespace mcp_server {

class call_permits {
 public:
  explicit call_permits(std::size_t per_account) : per_account_(per_account) {}

  // Returned when it is destroyed.
  class permit {
   public:
    permit() = default;
    permit(call_permits* from, const ry::uuid& account) : from_(from), account_(account) {}
    permit(permit&& o) noexcept : from_(std::exchange(o.from_, nullptr)), account_(o.account_) {}
    permit& operator=(permit&&) = delete;
    ~permit() {
      if (from_ != nullptr) from_->give_back(account_);
    }
    explicit operator bool() const noexcept { return from_ != nullptr; }

   private:
    call_permits* from_ = nullptr;
    ry::uuid account_;
  };
  // Empty: the account has reached the limit.
  permit acquire(const ry::uuid& account) {
    std::lock_guard lock(mutex_);
    std::size_t& n = used_[account];
    if (n >= per_account_) return {};
    ++n;
    return {this, account};
  }

 private:
  void give_back(const ry::uuid& account) noexcept {
    std::lock_guard lock(mutex_);
    const auto it = used_.find(account);
    if (it != used_.end() && --it->second == 0) used_.erase(it);
  }

  const std::size_t per_account_;
  std::mutex mutex_;
  std::map<ry::uuid, std::size_t> used_;
};

}  // namespace mcp_server

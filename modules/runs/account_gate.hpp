// Which accounts the statements under way on this node lock. Whoever gathers starts or borders leaves those of such an
// account for a later statement: the database would only say that the account is locked, and each would have to be
// asked by itself. What locks one account alone passes through it.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "live_run.hpp"

namespace runs {

class account_gate {
 public:
  // Called after a statement has left, with its accounts or without any, on the thread that did so. To be said
  // before anything is entered.
  void on_left(std::function<void()> wake) { wakes_.push_back(std::move(wake)); }

  using statement = std::uint64_t;
  statement next() { return ++last_; }
  // False: another statement has the account. Each entry is left once.
  bool enter(const ry::uuid& account, statement by) {
    std::lock_guard lock(mutex_);
    auto [at, fresh] = held_.try_emplace(account, place{by, 0});
    if (!fresh && at->second.by != by) return false;
    ++at->second.entries;
    return true;
  }
  void leave(std::span<const ry::uuid> accounts) {
    {
      std::lock_guard lock(mutex_);
      for (const ry::uuid& account : accounts) {
        const auto at = held_.find(account);
        if (at != held_.end() && --at->second.entries == 0) held_.erase(at);
      }
    }
    for (const std::function<void()>& wake : wakes_) wake();
  }

  // Keeps those who gather away from an account while one statement of its own locks it; without any effect while
  // another statement has the account, as that waits for nobody.
  class pass {
   public:
    pass(account_gate& gate, const ry::uuid& account)
        : gate_(gate), account_(account), entered_(gate.enter(account, gate.next())) {}
    pass(const pass&) = delete;
    ~pass() {
      if (entered_) gate_.leave({&account_, 1});
    }

   private:
    account_gate& gate_;
    const ry::uuid account_;
    const bool entered_;
  };

 private:
  struct place {
    statement by;
    std::size_t entries;
  };
  std::atomic<statement> last_{0};
  std::mutex mutex_;
  std::unordered_map<ry::uuid, place, uuid_hash> held_;
  std::vector<std::function<void()>> wakes_;
};

}  // namespace runs

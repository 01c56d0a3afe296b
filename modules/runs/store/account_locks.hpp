// Account locks: serialize, on this node, the statements that lock an account's row. A batch of starts or checkpoints
// skips an account that another statement holds, and a later batch takes it: the database would only report the lock,
// and each entry would then need a separate statement. Statements for a single account also take the lock. The two
// sides take turns: the side that held an account last yields it if the other side was refused meanwhile. So many
// starts cannot delay the checkpoints of an account's runs, and checkpoints cannot delay its next start.
//
// A refused caller tries again after each wake-up until it acquires the account.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <ry/ry.hpp>
#include <span>
#include <unordered_map>
#include <vector>

#include "types/uuid_hash.hpp"

namespace runs {

class account_locks {
 public:
  // The function is called after each release(), even one without accounts, on the releasing thread. Register it before
  // the first try_acquire().
  void on_release(std::function<void()> wake) { wakes_.push_back(std::move(wake)); }

  using statement = std::uint64_t;
  enum class side { starts, checkpoints };
  statement next() { return ++last_; }
  // False: another statement holds the account, or it is the other side's turn. Each successful call needs one
  // release(). A statement may acquire the same account several times.
  bool try_acquire(const ry::uuid& account, statement by, side of) {
    std::lock_guard lock(mutex_);
    account_state& s = accounts_[account];
    // An unused turn expires after some attempts: the other side may be blocked by other accounts.
    const bool others_turn = s.refused[other(of)] && s.last == of && s.entries == 0 && ++s.yielded <= max_yields;
    if (s.entries == 0 ? others_turn : s.holder != by) {
      s.refused[index(of)] = true;
      return false;
    }
    s.yielded = 0;
    s.refused[index(of)] = false;
    s.last = of;
    s.holder = by;
    ++s.entries;
    return true;
  }
  void release(std::span<const ry::uuid> accounts) {
    {
      std::lock_guard lock(mutex_);
      for (const ry::uuid& account : accounts) {
        const auto at = accounts_.find(account);
        if (at == accounts_.end()) continue;
        account_state& s = at->second;
        if (--s.entries == 0 && !s.refused[0] && !s.refused[1]) accounts_.erase(at);
      }
    }
    for (const std::function<void()>& wake : wakes_) wake();
  }

  // Excludes batches from an account while a single statement locks it. Has no effect if another statement already
  // holds the account, because a batch never waits for a lock.
  class pass {
   public:
    pass(account_locks& locks, const ry::uuid& account)
        : locks_(locks), account_(account), acquired_(locks.acquire_pass(account)) {}
    pass(const pass&) = delete;
    ~pass() {
      if (acquired_) locks_.release({&account_, 1});
    }

   private:
    account_locks& locks_;
    const ry::uuid account_;
    const bool acquired_;
  };

 private:
  struct account_state {
    statement holder = 0;
    std::size_t entries = 0;  // 0: free, but refused callers have not retried yet
    side last = side::starts;
    unsigned yielded = 0;  // times that the free account was reserved for the other side
    bool refused[2] = {false, false};
  };
  static constexpr unsigned max_yields = 3;
  static std::size_t index(side s) { return static_cast<std::size_t>(s); }
  static std::size_t other(side s) { return 1 - index(s); }

  bool acquire_pass(const ry::uuid& account) {
    std::lock_guard lock(mutex_);
    account_state& s = accounts_[account];
    if (s.entries != 0) return false;
    s.holder = next();
    s.entries = 1;
    return true;
  }

  std::atomic<statement> last_{0};
  std::mutex mutex_;
  std::unordered_map<ry::uuid, account_state, uuid_hash> accounts_;
  std::vector<std::function<void()>> wakes_;
};

}  // namespace runs

// Account locks: serializes, on this node, the statements that lock an account's row. A batch of starts or checkpoints
// leaves an account that another statement holds for a later batch: the database would only report the lock, and each
// entry would then need a statement of its own. Statements for one account alone also take the lock. The two sides take
// turns: the side that held an account last yields it if the other side was refused meanwhile. So many starts cannot
// delay the checkpoints of an account's runs, nor checkpoints its next start.
//
// A refused caller tries again after each wake-up until it enters.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "stream/live_run.hpp"

namespace runs {

class account_locks {
 public:
  // The function is called after each leave(), also one without accounts, on the thread that leaves. Register it before
  // the first enter().
  void on_left(std::function<void()> wake) { wakes_.push_back(std::move(wake)); }

  using statement = std::uint64_t;
  enum class side { starts, checkpoints };
  statement next() { return ++last_; }
  // False: another statement holds the account, or it is the other side's turn. Each successful entry needs one
  // leave().
  bool enter(const ry::uuid& account, statement by, side of) {
    std::lock_guard lock(mutex_);
    place& p = accounts_[account];
    // A turn that is not taken for a while lapses: the other side may be held up by other accounts.
    const bool others_turn = p.refused[other(of)] && p.last == of && p.entries == 0 && ++p.waived <= max_waived;
    if (p.entries == 0 ? others_turn : p.by != by) {
      p.refused[index(of)] = true;
      return false;
    }
    p.waived = 0;
    p.refused[index(of)] = false;
    p.last = of;
    p.by = by;
    ++p.entries;
    return true;
  }
  void leave(std::span<const ry::uuid> accounts) {
    {
      std::lock_guard lock(mutex_);
      for (const ry::uuid& account : accounts) {
        const auto at = accounts_.find(account);
        if (at == accounts_.end()) continue;
        place& p = at->second;
        if (--p.entries == 0 && !p.refused[0] && !p.refused[1]) accounts_.erase(at);
      }
    }
    for (const std::function<void()>& wake : wakes_) wake();
  }

  // Keeps batches away from an account while a single statement locks it. Has no effect if another statement already
  // holds the account, because a batch never waits for a lock.
  class pass {
   public:
    pass(account_locks& locks, const ry::uuid& account)
        : locks_(locks), account_(account), entered_(locks.pass_in(account)) {}
    pass(const pass&) = delete;
    ~pass() {
      if (entered_) locks_.leave({&account_, 1});
    }

   private:
    account_locks& locks_;
    const ry::uuid account_;
    const bool entered_;
  };

 private:
  struct place {
    statement by = 0;
    std::size_t entries = 0;  // 0: free; refused callers have not come back yet
    side last = side::starts;
    unsigned waived = 0;  // times that the free account was left to the other side
    bool refused[2] = {false, false};
  };
  static constexpr unsigned max_waived = 3;
  static std::size_t index(side s) { return static_cast<std::size_t>(s); }
  static std::size_t other(side s) { return 1 - index(s); }

  bool pass_in(const ry::uuid& account) {
    std::lock_guard lock(mutex_);
    place& p = accounts_[account];
    if (p.entries != 0) return false;
    p.by = next();
    p.entries = 1;
    return true;
  }

  std::atomic<statement> last_{0};
  std::mutex mutex_;
  std::unordered_map<ry::uuid, place, uuid_hash> accounts_;
  std::vector<std::function<void()>> wakes_;
};

}  // namespace runs

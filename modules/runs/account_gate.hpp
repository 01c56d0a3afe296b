// Which accounts the statements under way on this node lock. Whoever gathers starts or borders leaves those of such an
// account for a later statement: the database would only say that the account is locked, and each would have to be
// asked by itself. What locks one account alone passes through it. Who gathered the last statement of an account leaves
// it to the other side when that was refused meanwhile: neither many starts keep the runs of an account from their ends
// nor these its next start.
//
// Whoever was refused asks again when something has left, until it enters.
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
  enum class side { starts, borders };
  statement next() { return ++last_; }
  // False: another statement has the account, or the other side has it next. Each entry is left once.
  bool enter(const ry::uuid& account, statement by, side of) {
    std::lock_guard lock(mutex_);
    place& p = accounts_[account];
    // A turn lapses when it is not taken for a while: the other side may be held up by other accounts.
    const bool others_turn = p.refused[other(of)] && p.last == of && p.entries == 0 && ++p.waived <= most_waived;
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

  // Keeps those who gather away from an account while one statement of its own locks it; without any effect while
  // another statement has the account, as that waits for nobody.
  class pass {
   public:
    pass(account_gate& gate, const ry::uuid& account)
        : gate_(gate), account_(account), entered_(gate.pass_in(account)) {}
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
    statement by = 0;
    std::size_t entries = 0;  // none: those who were refused have not come back yet
    side last = side::starts;
    unsigned waived = 0;  // times that the account was free and left to the other side
    bool refused[2] = {false, false};
  };
  static constexpr unsigned most_waived = 3;
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

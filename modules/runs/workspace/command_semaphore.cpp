#include "workspace/command_semaphore.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace runs {

// Shared by the line and the frame that waits.
struct command_semaphore::waiting : abortable {
  ry::uuid account;
  ry_exec* exec = nullptr;
  bool given = false;  // under the lock
  bool aborted = false;  // on exec
  ry::signal changed;  // on exec

  void abort() noexcept override {
    aborted = true;
    changed.set();
  }
};

bool command_semaphore::fits(const use& of) const {
  return (all_ == 0 || taken_ < all_) && (per_account_ == 0 || of.taken < per_account_);
}

void command_semaphore::give(use& to) {
  ++taken_;
  ++to.taken;
  to.served = ++turn_;
}

// The waiter of the account with the fewest permits, and among these of the one served longest ago: an account with a
// thousand commands gets only what others leave.
command_semaphore::line::iterator command_semaphore::next_in_line() {
  auto best = line_.end();
  const use* of_best = nullptr;
  for (auto it = line_.begin(); it != line_.end(); ++it) {
    const use& of = accounts_.at((*it)->account.to_string());
    if (!fits(of)) continue;
    if (of_best != nullptr && std::tie(of.taken, of.served) >= std::tie(of_best->taken, of_best->served)) continue;
    best = it;
    of_best = &of;
  }
  return best;
}

void command_semaphore::forget_idle(const std::string& account) {
  const auto at = accounts_.find(account);
  if (at->second.taken == 0 && at->second.waiting == 0) accounts_.erase(at);
}

ry::task<command_semaphore::place> command_semaphore::take(std::shared_ptr<live_run> run) {
  const auto me = std::make_shared<waiting>();
  me->account = run->who.account;
  me->exec = run->exec;
  {
    std::lock_guard lock(mutex_);
    use& mine = accounts_[me->account.to_string()];
    if (fits(mine)) {
      give(mine);
      me->given = true;
    } else {
      ++mine.waiting;
      line_.push_back(me);
    }
  }
  if (me->given) co_return place(*this, me->account);
  {
    stop_state::working busy(run->stop, *me);
    for (;;) {
      {
        std::lock_guard lock(mutex_);
        if (me->given) break;
        if (me->aborted) {
          line_.erase(std::find(line_.begin(), line_.end(), me));
          const std::string account = me->account.to_string();
          --accounts_.at(account).waiting;
          forget_idle(account);
          co_return place();
        }
      }
      (void)co_await me->changed.wait();
    }
  }
  co_return place(*this, me->account);
}

void command_semaphore::leave(const ry::uuid& account) {
  std::vector<std::shared_ptr<waiting>> next;
  {
    std::lock_guard lock(mutex_);
    --taken_;
    --accounts_.at(account.to_string()).taken;
    for (auto it = next_in_line(); it != line_.end(); it = next_in_line()) {
      use& of = accounts_.at((*it)->account.to_string());
      --of.waiting;
      give(of);
      (*it)->given = true;
      next.push_back(std::move(*it));
      line_.erase(it);
    }
    forget_idle(account.to_string());
  }
  for (auto& w : next) ctx_.post(w->exec, [w] { w->changed.set(); });
}

}  // namespace runs

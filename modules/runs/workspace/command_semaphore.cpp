#include "workspace/command_semaphore.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace runs {

// Shared by the queue and the coroutine that waits.
struct command_semaphore::waiter : abortable {
  ry::uuid account;
  ry_exec* exec = nullptr;
  bool granted = false;  // protected by the mutex
  bool aborted = false;  // accessed only on exec
  ry::signal changed;  // accessed only on exec

  void abort() noexcept override {
    aborted = true;
    changed.set();
  }
};

bool command_semaphore::has_permit_for(const account_usage& of) const {
  return (total_ == 0 || taken_ < total_) && (per_account_ == 0 || of.taken < per_account_);
}

void command_semaphore::grant(account_usage& to) {
  ++taken_;
  ++to.taken;
  to.served = ++last_served_;
}

// The first waiter of the account with the fewest permits and, among equals, of the one that was served longest ago: an
// account with a thousand commands gets only the permits that the other accounts do not need.
command_semaphore::wait_queue::iterator command_semaphore::next_waiter() {
  auto best = queue_.end();
  const account_usage* best_usage = nullptr;
  for (auto it = queue_.begin(); it != queue_.end(); ++it) {
    const account_usage& of = accounts_.at((*it)->account.to_string());
    if (!has_permit_for(of)) continue;
    if (best_usage != nullptr && std::tie(of.taken, of.served) >= std::tie(best_usage->taken, best_usage->served))
      continue;
    best = it;
    best_usage = &of;
  }
  return best;
}

void command_semaphore::erase_if_idle(const std::string& account) {
  const auto at = accounts_.find(account);
  if (at->second.taken == 0 && at->second.waiting == 0) accounts_.erase(at);
}

ry::task<command_semaphore::place> command_semaphore::take(std::shared_ptr<live_run> run) {
  const auto self = std::make_shared<waiter>();
  self->account = run->who.account;
  self->exec = run->exec;
  {
    std::lock_guard lock(mutex_);
    account_usage& own_usage = accounts_[self->account.to_string()];
    if (has_permit_for(own_usage)) {
      grant(own_usage);
      self->granted = true;
    } else {
      ++own_usage.waiting;
      queue_.push_back(self);
    }
  }
  if (self->granted) co_return place(*this, self->account);
  {
    stop_state::working busy(run->stop, *self);
    for (;;) {
      {
        std::lock_guard lock(mutex_);
        if (self->granted) break;
        if (self->aborted) {
          queue_.erase(std::find(queue_.begin(), queue_.end(), self));
          const std::string account = self->account.to_string();
          --accounts_.at(account).waiting;
          erase_if_idle(account);
          co_return place();
        }
      }
      (void)co_await self->changed.wait();
    }
  }
  co_return place(*this, self->account);
}

void command_semaphore::release(const ry::uuid& account) {
  std::vector<std::shared_ptr<waiter>> next;
  {
    std::lock_guard lock(mutex_);
    --taken_;
    --accounts_.at(account.to_string()).taken;
    for (auto it = next_waiter(); it != queue_.end(); it = next_waiter()) {
      account_usage& of = accounts_.at((*it)->account.to_string());
      --of.waiting;
      grant(of);
      (*it)->granted = true;
      next.push_back(std::move(*it));
      queue_.erase(it);
    }
    erase_if_idle(account.to_string());
  }
  for (auto& w : next) ctx_.post(w->exec, [w] { w->changed.set(); });
}

}  // namespace runs

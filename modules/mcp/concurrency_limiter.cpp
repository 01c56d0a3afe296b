#include "concurrency_limiter.hpp"

#include <algorithm>

namespace mcp {
namespace {

// Duration of one sleep. A waiter sleeps repeatedly, because a preceding call in its session may take up to a day.
constexpr std::uint64_t sleep_ms = 3'600'000;

}  // namespace

bool concurrency_limiter::try_acquire(const std::string& account, waiter& w) {
  if (account.empty()) return true;
  std::lock_guard lock(mutex_);
  auto& s = accounts_[account];
  if (s.permits < max_permits_) {
    ++s.permits;
    return true;
  }
  s.waiting.push_back(&w);
  return false;
}

ry_status concurrency_limiter::sleep(waiter& w, ry_exec* exec, ry_done done, ry_op_id* op) {
  std::lock_guard lock(mutex_);
  if (w.granted) return RY_CANCELLED;
  const auto st = ctx_.core().sleep_ms(ctx_.host(), exec, sleep_ms, done, op);
  w.sleep = *op;
  return st;
}

bool concurrency_limiter::granted(const waiter& w) {
  std::lock_guard lock(mutex_);
  return w.granted;
}

bool concurrency_limiter::remove_waiter(const std::string& account, waiter& w) noexcept {
  std::lock_guard lock(mutex_);
  if (w.granted) return true;
  std::erase(accounts_.at(account).waiting, &w);
  return false;
}

void concurrency_limiter::release(const std::string& account) noexcept {
  if (account.empty()) return;
  ry_op_id next = 0;
  {
    std::lock_guard lock(mutex_);
    const auto at = accounts_.find(account);
    auto& s = at->second;
    if (s.waiting.empty()) {
      if (--s.permits == 0) accounts_.erase(at);
      return;
    }
    s.waiting.front()->granted = true;
    next = s.waiting.front()->sleep;
    s.waiting.pop_front();
  }
  if (next != 0) ctx_.core().op_cancel(ctx_.host(), next);
}

ry::task<concurrency_limiter::permit> concurrency_limiter::acquire(std::string account) {
  waiter w;
  for (bool acquired = try_acquire(account, w); !acquired;) {
    ry::result<void> woken = co_await ry::call_done(
        [this, &w](ry_exec* exec, ry_done done, ry_op_id* op) { return sleep(w, exec, done, op); });
    acquired = woken.ok() ? granted(w) : remove_waiter(account, w);
    if (!acquired) woken.value();
  }
  co_return permit(*this, std::move(account));
}

}  // namespace mcp

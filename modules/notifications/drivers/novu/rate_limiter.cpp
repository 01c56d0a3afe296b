#include "rate_limiter.hpp"

#include <algorithm>

namespace notify_novu {

namespace {
constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t max_wait_s = 3600;  // longest wait, in seconds, that a response can request
constexpr std::int64_t initial_tokens = 100;  // until a response reports the limit
}  // namespace

std::int64_t rate_limiter::acquire(category c, std::int64_t cost, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  window& w = of(c);
  if (now_us < w.closed_until_us) return w.closed_until_us - now_us;
  if (w.remaining && now_us >= w.reset_us) w.remaining.reset();
  const std::int64_t available = w.remaining.value_or(initial_tokens) - w.in_flight;
  // A request that costs more than an unknown limit is sent alone: only a response reveals the limit.
  const bool alone = !w.remaining && w.in_flight == 0;
  if (available < cost && !alone) return std::max(w.reset_us - now_us, second / 20);
  w.in_flight += cost;
  return 0;
}

void rate_limiter::on_response(category c, std::int64_t cost, const rate_report& r, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  window& w = of(c);
  w.in_flight -= cost;
  if (r.remaining && r.reset_s) {
    w.remaining = std::max<std::int64_t>(*r.remaining, 0);
    w.reset_us = now_us + std::clamp<std::int64_t>(*r.reset_s, 0, max_wait_s) * second;
  }
  if (r.retry_after_s) {
    const auto until = now_us + std::clamp<std::int64_t>(*r.retry_after_s, 1, max_wait_s) * second;
    w.closed_until_us = std::max(w.closed_until_us, until);
  }
}

void rate_limiter::on_no_response(category c, std::int64_t cost) {
  std::lock_guard lock(mutex_);
  of(c).in_flight -= cost;
}

}  // namespace notify_novu

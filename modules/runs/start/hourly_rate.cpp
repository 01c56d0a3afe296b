#include "start/hourly_rate.hpp"

#include <algorithm>

namespace runs {
namespace {

constexpr std::int64_t hour_us = 3'600'000'000;

// Time to refill `amount`.
std::int64_t refill_us(std::int64_t amount, std::int64_t limit) {
  return static_cast<std::int64_t>(static_cast<double>(amount) / static_cast<double>(limit) * hour_us);
}

}  // namespace

std::int64_t hourly_rate::wait_seconds(const std::string& key, std::int64_t amount, std::int64_t limit,
                                       std::int64_t now_us) {
  const std::lock_guard lock(mutex_);
  const auto found = full_at_us_.find(key);
  if (found == full_at_us_.end() || found->second <= now_us) return 0;
  const std::int64_t wait_us = found->second + refill_us(std::min(amount, limit), limit) - now_us - hour_us;
  return wait_us <= 0 ? 0 : wait_us / 1'000'000 + 1;
}

void hourly_rate::add(const std::string& key, std::int64_t amount, std::int64_t limit, std::int64_t now_us) {
  const std::lock_guard lock(mutex_);
  std::int64_t& full_at = full_at_us_[key];
  full_at = std::max(full_at, now_us) + refill_us(amount, limit);
  if (full_at_us_.size() < sweep_at_) return;
  std::erase_if(full_at_us_, [now_us](const auto& one) { return one.second <= now_us; });
  sweep_at_ = std::max<std::size_t>(1024, full_at_us_.size() * 2);
}

}  // namespace runs

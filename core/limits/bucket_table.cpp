#include "core/limits/bucket_table.hpp"

#include <algorithm>

namespace ry::limits {

namespace {

// Limits how much a key can owe beyond one burst for requests that could not be reported to the database.
constexpr std::int64_t max_untold_us = 10'000'000;
// A key that is idle for this long is removed, even if its spending was not reported.
constexpr std::int64_t idle_us = 60'000'000;

}  // namespace

verdict bucket_table::take(std::string_view key, const rate& r, std::int64_t now) {
  const auto interval = r.interval_us(), most = interval * r.burst;
  auto& s = of(key);
  std::lock_guard lock(s.mutex);
  auto it = s.buckets.find(key);
  if (it == s.buckets.end()) {
    if (s.buckets.size() >= max_per_shard_) return {true, r.burst, 0, 0, false};
    it = s.buckets.emplace(std::string(key), bucket{}).first;
  }
  auto& b = it->second;
  const auto begin = std::max(b.busy_until, now);
  const auto ahead = begin + interval - now;
  if (ahead > most) return {false, 0, ahead - most, begin - now};
  b.busy_until = begin + interval;
  b.untold_us = std::min(b.untold_us + interval, most + max_untold_us);
  return {true, (most - ahead) / interval, 0, ahead};
}

std::vector<spending> bucket_table::collect(std::int64_t now) {
  std::vector<spending> out;
  for (auto& s : all_) {
    std::lock_guard lock(s.mutex);
    for (auto it = s.buckets.begin(); it != s.buckets.end();) {
      auto& b = it->second;
      if (b.untold_us > 0 && b.busy_until > now - idle_us) {
        // While the spending could not be reported, the rate has already refilled part of it.
        out.push_back({it->first, b.untold_us, std::min<std::int64_t>(b.busy_until - b.untold_us - now, 0)});
        b.untold_us = 0;
        ++it;
      } else if (b.busy_until <= now) {
        it = s.buckets.erase(it);
      } else {
        ++it;
      }
    }
  }
  return out;
}

void bucket_table::learn(std::string_view key, std::int64_t ahead_us, std::int64_t now) {
  auto& s = of(key);
  std::lock_guard lock(s.mutex);
  const auto it = s.buckets.find(key);
  if (it == s.buckets.end()) return;
  it->second.busy_until = now + ahead_us + it->second.untold_us;
}

void bucket_table::give_back(const std::vector<spending>& untold) {
  for (const auto& u : untold) {
    auto& s = of(u.key);
    std::lock_guard lock(s.mutex);
    if (const auto it = s.buckets.find(u.key); it != s.buckets.end()) it->second.untold_us += u.us;
  }
}

std::size_t bucket_table::size() const {
  std::size_t n = 0;
  for (const auto& s : all_) {
    std::lock_guard lock(s.mutex);
    n += s.buckets.size();
  }
  return n;
}

}  // namespace ry::limits

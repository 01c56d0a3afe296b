// Counters of the connection pool, for metrics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace ry::db {

// Upper bounds of the histogram buckets of queueing times in microseconds; the last bucket is unbounded.
inline constexpr std::array<std::uint64_t, 11> wait_bounds_us{100,     500,     1'000,     5'000,     10'000,    50'000,
                                                              100'000, 500'000, 1'000'000, 5'000'000, 30'000'000};

// Number of statuses of the ABI (RY_OK .. RY_UNAUTHENTICATED).
inline constexpr std::size_t status_count = 17;

// A snapshot of the counters.
struct pool_stats {
  std::size_t connections = 0;  // open now, including the housekeeping connection
  std::size_t in_use = 0;  // connections that run work
  std::size_t waiting = 0;  // calls and transactions that no worker has taken
  std::uint64_t opened = 0, lost = 0;  // connections
  std::array<std::uint64_t, wait_bounds_us.size() + 1> waits{};  // not cumulative; excludes housekeeping
  std::uint64_t wait_sum_us = 0;
  std::array<std::uint64_t, status_count> failures{};  // by status
};

// Counts failed calls by status. Any thread.
class failure_counters {
 public:
  void add(std::int32_t status) noexcept {
    const auto at = status > 0 && status < static_cast<std::int32_t>(status_count) ? status : 2;  // unknown
    counts_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
  }
  void read(std::array<std::uint64_t, status_count>& out) const noexcept {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = counts_[i].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, status_count> counts_{};
};

}  // namespace ry::db

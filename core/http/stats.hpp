// Counters of the server: the loops write them, the metrics exporter reads snapshots.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ry::http {

// Upper bounds of the latency buckets in microseconds; the last bucket is unbounded.
inline constexpr std::array<std::uint64_t, 13> latency_bounds_us{
    100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 1'000'000, 5'000'000};

struct route_stats {
  std::string method, pattern;  // pattern "" = no route matched
  std::vector<std::pair<std::uint32_t, std::uint64_t>> by_status;
  std::array<std::uint64_t, latency_bounds_us.size() + 1> latency{};  // not cumulative
  std::uint64_t latency_sum_us = 0;
};

// A snapshot of the counters.
struct server_stats {
  std::uint64_t connections = 0;  // open now
  std::uint64_t streams = 0;  // open now
  std::uint64_t accepted = 0, refused = 0, requests = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::uint64_t streams_cut = 0;  // streams closed because of slow readers
  std::uint64_t parse_errors = 0, timeouts = 0;
  std::uint64_t connections_refused_by_address = 0;
  std::uint64_t slow_readers = 0;  // closed because of read_min_rate
  std::uint64_t unsent_bytes = 0, unsent_refused = 0;
  std::uint64_t bodies = 0, bodies_refused = 0;
  std::uint64_t spool_bytes = 0, spool_refused = 0;
  std::vector<route_stats> routes;
};

// Counters of one route; all loops write them.
class route_counters {
 public:
  route_counters(std::string method, std::string pattern) : method_(std::move(method)), pattern_(std::move(pattern)) {}
  void add(std::uint32_t status, std::uint64_t us) noexcept {
    by_status_[status >= 100 && status < 600 ? status - 100 : 400].fetch_add(1, std::memory_order_relaxed);
    std::size_t i = 0;
    while (i < latency_bounds_us.size() && us > latency_bounds_us[i]) ++i;
    latency_[i].fetch_add(1, std::memory_order_relaxed);
    sum_us_.fetch_add(us, std::memory_order_relaxed);
  }
  route_stats snapshot() const {
    route_stats s{method_, pattern_, {}, {}, sum_us_.load(std::memory_order_relaxed)};
    for (std::size_t i = 0; i < by_status_.size(); ++i)
      if (auto n = by_status_[i].load(std::memory_order_relaxed))
        s.by_status.emplace_back(static_cast<std::uint32_t>(i + 100), n);
    for (std::size_t i = 0; i < latency_.size(); ++i) s.latency[i] = latency_[i].load(std::memory_order_relaxed);
    return s;
  }
  const std::string& method() const noexcept { return method_; }
  const std::string& pattern() const noexcept { return pattern_; }

 private:
  const std::string method_, pattern_;
  std::array<std::atomic<std::uint32_t>, 500> by_status_{};
  std::array<std::atomic<std::uint64_t>, latency_bounds_us.size() + 1> latency_{};
  std::atomic<std::uint64_t> sum_us_{0};
};

}  // namespace ry::http

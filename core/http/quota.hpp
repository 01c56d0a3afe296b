// Limits the amount of one resource (bytes, connections) that callers hold at the same time, by caller and in total.
// A caller may hold at most the free amount, so N greedy callers leave 1/(N+1) of the total for the others (dynamic
// thresholds, as switches use them to share a packet buffer between ports).
//
// Thread-safe. A quota outlives its holds. Errors are return values.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace ry::http {

// 0: no limit.
struct quota_limits {
  std::uint64_t per_caller = 0, total = 0;
};

enum class quota_verdict { granted, caller_full, total_full };

class quota {
 public:
  explicit quota(quota_limits l) : limits_(l) {}
  quota(const quota&) = delete;
  quota& operator=(const quota&) = delete;

  quota_verdict take(std::string_view caller, std::uint64_t amount);
  void give_back(std::string_view caller, std::uint64_t amount) noexcept;

  std::uint64_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  std::size_t callers() const;  // number of callers with a held amount

 private:
  static constexpr std::size_t shards = 16;
  struct hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  struct shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string, std::uint64_t, hash, std::equal_to<>> held;
  };
  shard& of(std::string_view caller) { return all_[hash{}(caller) % shards]; }

  const quota_limits limits_;
  std::atomic<std::uint64_t> held_{0}, refused_{0};
  std::array<shard, shards> all_;
};

// The amount that one request or connection holds; the destructor releases it. Not thread-safe.
class quota_hold {
 public:
  quota_hold() = default;
  quota_hold(quota_hold&& o) noexcept
      : of_(std::exchange(o.of_, nullptr)), caller_(std::move(o.caller_)), amount_(std::exchange(o.amount_, 0)) {}
  quota_hold& operator=(quota_hold&& o) noexcept {
    if (this != &o) {
      reset();
      of_ = std::exchange(o.of_, nullptr);
      caller_ = std::move(o.caller_);
      amount_ = std::exchange(o.amount_, 0);
    }
    return *this;
  }
  ~quota_hold() { reset(); }

  // Sets the quota and the caller; call it before the first resize().
  void open(quota& of, std::string caller) {
    reset();
    of_ = &of;
    caller_ = std::move(caller);
  }
  bool is_open() const noexcept { return of_ != nullptr; }
  // Sets the held amount. If the quota refuses, the held amount does not change.
  quota_verdict resize(std::uint64_t amount);
  void reset() noexcept;
  std::uint64_t amount() const noexcept { return amount_; }

 private:
  quota* of_ = nullptr;
  std::string caller_;
  std::uint64_t amount_ = 0;
};

}  // namespace ry::http

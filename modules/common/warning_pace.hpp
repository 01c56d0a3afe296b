// Rate limit for repeated warnings: allows a number of them per interval (one by default), so that a lasting condition
// or a client that repeats a request does not flood the log. Thread: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "without_protection.hpp"

namespace logging {

class warning_pace {
 public:
  using clock = std::chrono::steady_clock;

  explicit warning_pace(std::chrono::milliseconds interval = std::chrono::minutes(1), int per_interval = 1)
      : interval_(interval), per_interval_(per_interval) {}

  // Call it for each warning. Returns 0 if this warning must not be logged; otherwise the number of warnings since the
  // last logged one, including this one.
  std::uint64_t due(clock::time_point now = clock::now()) {
    if (ry_test::without_protection("warning_pace")) return 1;
    const std::lock_guard lock(mutex_);
    ++seen_;
    if (!interval_start_ || now - *interval_start_ >= interval_) {
      interval_start_ = now;
      logged_ = 0;
    }
    if (logged_ == per_interval_) return 0;
    ++logged_;
    return std::exchange(seen_, 0);
  }

 private:
  const clock::duration interval_;
  const int per_interval_;
  std::mutex mutex_;
  std::optional<clock::time_point> interval_start_;
  int logged_ = 0;  // in the current interval
  std::uint64_t seen_ = 0;  // warnings since the last logged one
};

}  // namespace logging

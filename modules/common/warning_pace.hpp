// Lets a number of warnings through per pause (one by default), so that a lasting condition or a client that
// repeats a request does not flood the log. Thread: any.
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

  explicit warning_pace(std::chrono::milliseconds pause = std::chrono::minutes(1), int per_pause = 1)
      : pause_(pause), per_pause_(per_pause) {}

  // Call it for each warning. Returns 0 if this warning must not be logged; otherwise the number of warnings since the
  // last logged one, including this one.
  std::uint64_t due(clock::time_point now = clock::now()) {
    if (ry_test::without_protection("warning_pace")) return 1;
    const std::lock_guard lock(mutex_);
    ++seen_;
    if (!begun_ || now - *begun_ >= pause_) {
      begun_ = now;
      logged_ = 0;
    }
    if (logged_ == per_pause_) return 0;
    ++logged_;
    return std::exchange(seen_, 0);
  }

 private:
  const clock::duration pause_;
  const int per_pause_;
  std::mutex mutex_;
  std::optional<clock::time_point> begun_;  // of the present pause
  int logged_ = 0;  // in the present pause
  std::uint64_t seen_ = 0;  // since the last logged one
};

}  // namespace logging

// Lets one warning through per pause, so that a lasting condition or a client that repeats a request does not flood the
// log. Thread: any.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "without_protection.hpp"

namespace logging {

class warning_pace {
 public:
  using clock = std::chrono::steady_clock;

  explicit warning_pace(std::chrono::milliseconds pause = std::chrono::minutes(1)) : pause_(pause) {}

  // Call it for each warning. Returns 0 if this warning must not be logged; otherwise the number of warnings since the
  // last logged one, including this one.
  std::uint64_t due(clock::time_point now = clock::now()) noexcept {
    seen_.fetch_add(1);
    if (ry_test::without_protection("warning_pace")) return 1;
    auto last = last_.load();
    const auto at = now.time_since_epoch().count();
    const bool early = last != never && clock::duration(at - last) < pause_;
    if (early || !last_.compare_exchange_strong(last, at)) return 0;
    return std::max<std::uint64_t>(seen_.exchange(0), 1);
  }

 private:
  static constexpr clock::rep never = INT64_MIN;

  const clock::duration pause_;
  std::atomic<clock::rep> last_{never};
  std::atomic<std::uint64_t> seen_{0};
};

}  // namespace logging

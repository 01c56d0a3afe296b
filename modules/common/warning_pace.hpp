// Lets one warning a minute through, so that a lasting condition does not flood the log. Thread: any.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace bubblewrap {

class warning_pace {
 public:
  bool due() noexcept {
    using namespace std::chrono;
    const std::int64_t now = duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
    std::int64_t last = last_ms_.load();
    return (last == 0 || now - last >= pause_ms) && last_ms_.compare_exchange_strong(last, now);
  }

 private:
  static constexpr std::int64_t pause_ms = 60'000;
  std::atomic<std::int64_t> last_ms_{0};
};

}  // namespace bubblewrap

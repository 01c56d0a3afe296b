// Rate limits of requests, per node and minute. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace referrals {

class rate {
 public:
  explicit rate(std::int64_t per_minute) : most_(per_minute) {}
  // Seconds to wait; 0: allowed and counted.
  std::uint32_t take(const std::string& caller, std::int64_t mono_us);

 private:
  const std::int64_t most_;
  std::mutex mutex_;
  std::int64_t window_ = 0;  // minutes of the monotonic clock
  std::unordered_map<std::string, std::int64_t> used_;
};

// The key of an address: the address itself, or its /64 for IPv6.
std::string caller_of(std::string_view address);

}  // namespace referrals

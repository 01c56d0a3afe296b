// Rate limits of requests, per node and minute. Thread: any.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace referrals {

class rate_limiter {
 public:
  explicit rate_limiter(std::int64_t per_minute) : limit_(per_minute) {}
  // Returns 0 if the request is allowed, which counts it; otherwise the seconds to wait.
  std::uint32_t acquire(const std::string& caller, std::int64_t mono_us);

 private:
  const std::int64_t limit_;
  std::mutex mutex_;
  std::int64_t current_minute_ = 0;  // minutes of the monotonic clock
  std::unordered_map<std::string, std::int64_t> used_;
};

// The key of a client's address: the address itself, or its /64 for IPv6.
std::string client_key(std::string_view address);

}  // namespace referrals

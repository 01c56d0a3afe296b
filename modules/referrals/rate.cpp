#include "rate.hpp"

#include <arpa/inet.h>

namespace referrals {

std::uint32_t rate_limiter::acquire(const std::string& caller, std::int64_t mono_us) {
  constexpr std::int64_t minute_us = 60'000'000;
  std::lock_guard lock(mutex_);
  const auto now = mono_us / minute_us;
  if (now != current_minute_) {
    current_minute_ = now;
    used_.clear();
  }
  if (++used_[caller] <= limit_) return 0;
  return static_cast<std::uint32_t>((minute_us - mono_us % minute_us) / 1'000'000 + 1);
}

std::string client_key(std::string_view address) {
  in6_addr six{};
  if (inet_pton(AF_INET6, std::string(address).c_str(), &six) != 1) return std::string(address);
  if (IN6_IS_ADDR_V4MAPPED(&six)) return std::string(address);
  return std::string(reinterpret_cast<const char*>(six.s6_addr), 8);
}

}  // namespace referrals

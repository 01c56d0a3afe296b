#include "rate.hpp"

#include <arpa/inet.h>

namespace referrals {

std::uint32_t rate::take(const std::string& caller, std::int64_t mono_us) {
  constexpr std::int64_t minute_us = 60'000'000;
  std::lock_guard lock(mutex_);
  const auto now = mono_us / minute_us;
  if (now != window_) {
    window_ = now;
    used_.clear();
  }
  if (++used_[caller] <= most_) return 0;
  return static_cast<std::uint32_t>((minute_us - mono_us % minute_us) / 1'000'000 + 1);
}

std::string caller_of(std::string_view address) {
  in6_addr six{};
  if (inet_pton(AF_INET6, std::string(address).c_str(), &six) != 1) return std::string(address);
  if (IN6_IS_ADDR_V4MAPPED(&six)) return std::string(address);
  return std::string(reinterpret_cast<const char*>(six.s6_addr), 8);
}

}  // namespace referrals

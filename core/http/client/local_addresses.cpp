#include "core/http/client/local_addresses.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <cstring>
#include <memory>

#include "without_protection.hpp"

namespace ry::http {
namespace {

constexpr auto read_again = std::chrono::seconds(10);

// Removes the zone, and converts IPv6 forms of an IPv4 address to the IPv4 address.
boost::asio::ip::address plain(const boost::asio::ip::address& a) {
  if (!a.is_v6()) return a;
  const auto v6 = a.to_v6();
  const auto b = v6.to_bytes();
  const auto v4_at = [&b](std::size_t i) { return boost::asio::ip::address_v4({b[i], b[i + 1], b[i + 2], b[i + 3]}); };
  static constexpr boost::asio::ip::address_v6::bytes_type nat64{0x00, 0x64, 0xff, 0x9b};
  if (v6.is_v4_mapped() || std::equal(b.begin(), b.begin() + 12, nat64.begin())) return v4_at(12);
  if (b[0] == 0x20 && b[1] == 0x02) return v4_at(2);  // 6to4
  return boost::asio::ip::address_v6(b);
}

}  // namespace

bool local_addresses::contain(const boost::asio::ip::address& a) const {
  if (ry_test::without_protection("own_addresses")) return false;
  std::lock_guard lock(mutex_);
  const auto now = clock::now();
  if (read_ == clock::time_point{} || now - read_ > read_again) {
    known_ = list_();
    read_ = now;
  }
  return std::ranges::find(known_, plain(a)) != known_.end();
}

local_addresses::addresses local_addresses::read_interfaces() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(raw, ::freeifaddrs);
  addresses out;
  for (const ifaddrs* i = raw; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr) continue;
    if (i->ifa_addr->sa_family == AF_INET) {
      const auto* in = reinterpret_cast<const sockaddr_in*>(i->ifa_addr);
      out.emplace_back(boost::asio::ip::address_v4(ntohl(in->sin_addr.s_addr)));
    } else if (i->ifa_addr->sa_family == AF_INET6) {
      const auto* in = reinterpret_cast<const sockaddr_in6*>(i->ifa_addr);
      boost::asio::ip::address_v6::bytes_type bytes;
      std::memcpy(bytes.data(), &in->sin6_addr, bytes.size());
      out.emplace_back(plain(boost::asio::ip::address_v6(bytes)));
    }
  }
  return out;
}

}  // namespace ry::http

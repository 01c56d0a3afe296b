// CIDR blocks of trusted proxies, the client address behind them, and the network that limits are keyed by.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ry::http::serving {

// Immutable after construction. [any]
class address_set {
 public:
  address_set() = default;
  // Takes entries such as "10.0.0.0/8" or "::1". Throws std::invalid_argument that names the invalid entry.
  explicit address_set(const std::vector<std::string>& blocks);
  bool contains(std::string_view address) const;
  bool empty() const noexcept { return blocks_.empty(); }

 private:
  struct block {
    std::array<std::uint8_t, 16> bytes;  // IPv4 as ::ffff:a.b.c.d
    int bits;
  };
  std::vector<block> blocks_;
};

// The key of limits: the IPv4 address itself, or the network of an IPv6 address, because a subscriber controls a whole
// /64 and often a /48.
enum class ipv6_prefix : unsigned { subscriber = 64, site = 48 };
std::string network_of(std::string_view address, ipv6_prefix bits = ipv6_prefix::subscriber);

// The right-most address of X-Forwarded-For that is not a trusted proxy, in canonical form; `peer` if the peer itself
// is not trusted or the header has no valid address.
std::string client_address(const address_set& trusted, std::string_view peer, std::string_view forwarded_for);

}  // namespace ry::http::serving

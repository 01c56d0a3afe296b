// Address blocks of trusted proxies, the client's address behind them, and the network that limits are counted by.
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
  // "10.0.0.0/8", "::1". Throws std::invalid_argument naming the entry.
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

// The key that limits are counted by: an IPv4 address itself, an IPv6 address's network. A subscriber controls a whole
// /64, and often a /48.
enum class ipv6_prefix : unsigned { subscriber = 64, site = 48 };
std::string network_of(std::string_view address, ipv6_prefix bits = ipv6_prefix::subscriber);

// The right-most address of X-Forwarded-For that is no trusted proxy; `peer` when it is not trusted
// itself or the header says nothing usable. However the header spells it, an address is always the same text.
std::string client_address(const address_set& trusted, std::string_view peer,
                           std::string_view forwarded_for);

}  // namespace ry::http::serving

// Address guard against SSRF: decides which addresses and names a request made on behalf of a user may reach. Pure
// functions without lookups. [any]
#pragma once

#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ry::http::guard {

// Why a connection to this address is rejected ("private", "loopback", ...); nullopt for an ordinary public address.
// An IPv6 address that embeds an IPv4 address (NAT64, 6to4) is judged by the embedded address. IPv4-mapped addresses
// are always refused: no resolver returns them.
std::optional<std::string_view> refused_address(const boost::asio::ip::address& address);

// Why this host name is refused before any lookup; nullopt when the looked-up addresses decide. `host` is in lower
// case, without a trailing dot.
std::optional<std::string_view> refused_name(std::string_view host);

// The host part of a URL.
struct host {
  std::string name;  // lower case, no brackets, no trailing dot
  std::optional<boost::asio::ip::address> literal;
};

// Parses the host of a URL: a name, an IPv6 literal in brackets, or an IPv4 address in any form that the C library
// accepts (127.1, 0x7f000001, 017700000001, 2130706433). nullopt for anything else.
std::optional<host> parse_host(std::string_view text);

}  // namespace ry::http::guard

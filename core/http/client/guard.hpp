// The address guard of outgoing requests: which addresses and names a request made on behalf of a
// user may reach. Pure functions, no look-ups. Any thread.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ry::http::guard {

// Why a connection to this address is refused ("private", "loopback", ...); nullopt when it is an
// ordinary public address. IPv6 forms that carry an IPv4 address (NAT64, 6to4) are judged by what
// they carry; IPv4-mapped forms are always refused: no resolver hands them out.
std::optional<std::string_view> refused_address(const boost::asio::ip::address& address);

// Why this host name is refused before any look-up; nullopt when a look-up may decide. `host` is
// lower case, without a trailing dot.
std::optional<std::string_view> refused_name(std::string_view host);

// What the host part of a URL is.
struct host {
  std::string name;  // lower case, no brackets, no trailing dot
  std::optional<boost::asio::ip::address> literal;
};

// Reads a host as it stands in a URL: a name, an IPv6 literal in brackets, or an IPv4 address in
// any form that the C library would take (127.1, 0x7f000001, 017700000001, 2130706433). nullopt
// when it is none of them.
std::optional<host> parse_host(std::string_view text);

}  // namespace ry::http::guard

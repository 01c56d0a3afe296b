// Groups client addresses into networks. Pure functions; [any].
#pragma once

#include <ry/cpp/http.hpp>

#include <string>

namespace accounts {

// The origin of a request.
struct caller {
  std::string address;  // IP address of the client
  std::string user_agent;
  bool forwarded = false;  // a proxy forwarded the request, so the address may be the proxy's
};
caller caller_of(const ry::request& r);

// The network of one client: an IPv4 address, or the /64 of an IPv6 address. Returns other text unchanged.
std::string client_network_of(const std::string& address);

// The address block: "203.0.113.0/24", "2001:db8:1:2::/64". Empty for loopback and link-local addresses, and for other
// text.
std::string network_block_of(const std::string& address);

// The address block of a caller. Also empty if a private address forwards for others: it is a proxy that
// http.trusted_proxies does not list.
std::string network_block_of(const caller& from);

bool is_this_machine(const std::string& address);

}  // namespace accounts

// Groups the addresses that requests come from into networks. Pure; [any].
#pragma once

#include <ry/cpp/http.hpp>

#include <string>

namespace accounts {

// The origin of a request.
struct caller {
  std::string address;  // of the network
  std::string user_agent;
  bool forwarded = false;  // a proxy forwarded the request: the address may be the proxy's
};
caller caller_of(const ry::request& r);

// The network of one customer: an IPv4 address, or the /64 of an IPv6 address. Returns other text unchanged.
std::string customer_of(const std::string& address);

// The network that neighbours share: "203.0.113.0/24", "2001:db8:1:2::/64". Empty for loopback, link-local addresses
// and other text.
std::string neighbourhood_of(const std::string& address);

// The same for a caller. Also empty for a private address that forwards for others: a proxy that http.trusted_proxies
// does not list.
std::string neighbourhood_of(const caller& who);

bool is_this_machine(const std::string& address);

}  // namespace accounts

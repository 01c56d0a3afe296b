// Where a request comes from, as far as it tells people apart. Pure; [any].
#pragma once

#include <ry/cpp/http.hpp>

#include <string>

namespace accounts {

// The origin of a request.
struct caller {
  std::string address;  // of the network
  std::string user_agent;
  bool forwarded = false;  // a proxy says so: the address may be the proxy's
};
caller caller_of(const ry::request& r);

// What one customer of a network has: one IPv4 address, or the /64 of an IPv6 one. What is no address
// is given back as it is.
std::string customer_of(const std::string& address);

// What neighbours share: "203.0.113.0/24", "2001:db8:1:2::/64". Empty for what tells nothing: this
// machine, a link, no address.
std::string neighbourhood_of(const std::string& address);

// The same for who asks; empty also for a private address that forwards for others: a proxy that
// http.trusted_proxies does not name.
std::string neighbourhood_of(const caller& who);

bool is_this_machine(const std::string& address);

}  // namespace accounts

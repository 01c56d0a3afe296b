#include "network.hpp"

#include <algorithm>

#include "common/client_network.hpp"

namespace accounts {
namespace {

using client_network::parse;
using client_network::to_text;

bool is_loopback(const in6_addr& a) {
  return IN6_IS_ADDR_V4MAPPED(&a) ? a.s6_addr[12] == 127 : IN6_IS_ADDR_LOOPBACK(&a);
}

bool is_link_local(const in6_addr& a) {
  if (!IN6_IS_ADDR_V4MAPPED(&a)) return IN6_IS_ADDR_LINKLOCAL(&a);
  return a.s6_addr[12] == 169 && a.s6_addr[13] == 254;
}

bool is_private(const in6_addr& a) {
  if (!IN6_IS_ADDR_V4MAPPED(&a)) return (a.s6_addr[0] & 0xfe) == 0xfc;
  const auto first = a.s6_addr[12], second = a.s6_addr[13];
  return first == 10 || (first == 172 && (second & 0xf0) == 16) || (first == 192 && second == 168) ||
         (first == 100 && (second & 0xc0) == 64);
}

}  // namespace

caller caller_of(const ry::request& r) {
  return {std::string(r.remote_address()), std::string(r.header("User-Agent")),
          !r.header("X-Forwarded-For").empty() || !r.header("Forwarded").empty()};
}

std::string client_network_of(const std::string& address) {
  return client_network::of_address(address);
}

std::string network_block_of(const std::string& address) {
  in6_addr a{};
  if (!parse(address, a) || is_loopback(a) || is_link_local(a)) return {};
  const bool four = IN6_IS_ADDR_V4MAPPED(&a);
  std::fill(a.s6_addr + (four ? 15 : 8), a.s6_addr + 16, 0);
  return to_text(a) + (four ? "/24" : "/64");
}

std::string network_block_of(const caller& from) {
  in6_addr a{};
  if (from.forwarded && parse(from.address, a) && is_private(a)) return {};
  return network_block_of(from.address);
}

bool is_this_machine(const std::string& address) {
  in6_addr a{};
  return parse(address, a) && is_loopback(a);
}

}  // namespace accounts

// Groups client addresses into networks, for limits per client. Pure functions; any thread.
#pragma once
#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace client_network {

// Parses an address to IPv6 form; IPv4 is mapped. Returns false if the text is not an address.
inline bool parse(const std::string& text, in6_addr& out) {
  in_addr four{};
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) {
    return inet_pton(AF_INET6, ("::ffff:" + text).c_str(), &out) == 1;
  }
  return inet_pton(AF_INET6, text.c_str(), &out) == 1;
}

// Mapped IPv4 addresses are written as IPv4.
inline std::string to_text(const in6_addr& a) {
  char text[INET6_ADDRSTRLEN];
  if (IN6_IS_ADDR_V4MAPPED(&a)) {
    inet_ntop(AF_INET, a.s6_addr + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, &a, text, sizeof text);
  }
  return text;
}

// The network of one client: an IPv4 address, or the /64 of an IPv6 address. Returns other text unchanged.
inline std::string of_address(const std::string& address) {
  in6_addr a{};
  if (!parse(address, a)) return address;
  if (!IN6_IS_ADDR_V4MAPPED(&a)) std::fill(a.s6_addr + 8, a.s6_addr + 16, 0);
  return to_text(a);
}

}  // namespace client_network

#include "core/http/cidr.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ry::http::serving {

namespace {

struct parsed {
  std::array<std::uint8_t, 16> bytes;
  bool v4;
};

std::optional<boost::asio::ip::address> address_of(std::string_view text) {
  boost::system::error_code ec;
  const auto a = boost::asio::ip::make_address(std::string(text), ec);
  if (ec) return std::nullopt;
  return a;
}

std::optional<parsed> parse(std::string_view text) {
  const auto found = address_of(text);
  if (!found) return std::nullopt;
  const auto& a = *found;
  parsed p{{}, a.is_v4()};
  if (a.is_v4()) {
    p.bytes[10] = p.bytes[11] = 0xff;
    const auto b = a.to_v4().to_bytes();
    std::copy(b.begin(), b.end(), p.bytes.begin() + 12);
  } else {
    const auto b = a.to_v6().to_bytes();
    std::copy(b.begin(), b.end(), p.bytes.begin());
  }
  return p;
}

// One address of X-Forwarded-For in canonical form. Rejects IPv6 zones, which may contain any bytes and are valid only
// on their own host, and zero bytes, where inet_pton would stop.
std::optional<std::string> forwarded(std::string_view text) {
  if (text.find_first_not_of("0123456789abcdefABCDEF.:") != std::string_view::npos) return std::nullopt;
  const auto a = address_of(text);
  if (!a) return std::nullopt;
  if (a->is_v6() && a->to_v6().is_v4_mapped())
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, a->to_v6()).to_string();
  return a->to_string();
}

}  // namespace

address_set::address_set(const std::vector<std::string>& blocks) {
  for (const auto& text : blocks) {
    const auto slash = text.find('/');
    const auto p = parse(std::string_view(text).substr(0, slash));
    if (!p) throw std::invalid_argument("\"" + text + "\" is not an address or address block");
    int bits = p->v4 ? 32 : 128;
    if (slash != std::string::npos) {
      const char* end = text.data() + text.size();
      int given = -1;
      const auto r = std::from_chars(text.data() + slash + 1, end, given);
      if (r.ec != std::errc() || r.ptr != end || given < 0 || given > bits)
        throw std::invalid_argument("\"" + text + "\" has no usable prefix length");
      bits = given;
    }
    blocks_.push_back({p->bytes, p->v4 ? bits + 96 : bits});
  }
}

bool address_set::contains(std::string_view address) const {
  if (blocks_.empty()) return false;
  const auto p = parse(address);
  if (!p) return false;
  for (const auto& b : blocks_) {
    bool same = true;
    for (int i = 0; i < 16 && same && i * 8 < b.bits; ++i) {
      const int bits = b.bits - i * 8;
      const auto mask = static_cast<std::uint8_t>(bits >= 8 ? 0xff : 0xff << (8 - bits));
      same = (p->bytes[i] & mask) == (b.bytes[i] & mask);
    }
    if (same) return true;
  }
  return false;
}

std::string client_address(const address_set& trusted, std::string_view peer, std::string_view forwarded_for) {
  std::string client(peer);
  if (trusted.empty() || !trusted.contains(peer)) return client;
  while (!forwarded_for.empty()) {
    const auto comma = forwarded_for.rfind(',');
    auto one = comma == std::string_view::npos ? forwarded_for : forwarded_for.substr(comma + 1);
    forwarded_for = comma == std::string_view::npos ? std::string_view() : forwarded_for.substr(0, comma);
    while (!one.empty() && (one.front() == ' ' || one.front() == '\t')) one.remove_prefix(1);
    while (!one.empty() && (one.back() == ' ' || one.back() == '\t')) one.remove_suffix(1);
    auto address = forwarded(one);
    if (!address) return client;
    client = std::move(*address);
    if (!trusted.contains(client)) return client;
  }
  return client;
}

std::string network_of(std::string_view address, ipv6_prefix bits) {
  in6_addr v6;
  const std::string text(address);
  if (::inet_pton(AF_INET6, text.c_str(), &v6) != 1) return text;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    char v4[INET_ADDRSTRLEN];
    return ::inet_ntop(AF_INET, v6.s6_addr + 12, v4, sizeof v4) ? v4 : text;
  }
  const auto kept = static_cast<unsigned>(bits) / 8;
  std::memset(v6.s6_addr + kept, 0, sizeof v6.s6_addr - kept);
  char out[INET6_ADDRSTRLEN];
  if (!::inet_ntop(AF_INET6, &v6, out, sizeof out)) return text;
  return std::string(out) + "/" + std::to_string(static_cast<unsigned>(bits));
}

}  // namespace ry::http::serving

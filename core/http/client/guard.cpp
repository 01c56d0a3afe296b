#include "core/http/client/guard.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <cstdint>
#include <ry/cpp/text.hpp>
#include <vector>

namespace ry::http::guard {

namespace {

namespace ip = boost::asio::ip;

struct v4_block {
  std::uint32_t net;
  int bits;
  std::string_view why;
};

constexpr std::uint32_t quad(unsigned a, unsigned b, unsigned c, unsigned d) {
  return (a << 24) | (b << 16) | (c << 8) | d;
}

constexpr v4_block v4_blocks[] = {
    {quad(0, 0, 0, 0), 8, "unspecified"},
    {quad(10, 0, 0, 0), 8, "private"},
    {quad(100, 64, 0, 0), 10, "shared"},
    {quad(127, 0, 0, 0), 8, "loopback"},
    // A public address that Azure maps to the host of a virtual machine.
    {quad(168, 63, 129, 16), 32, "metadata"},
    {quad(169, 254, 0, 0), 16, "link-local"},
    {quad(172, 16, 0, 0), 12, "private"},
    {quad(192, 0, 0, 0), 24, "reserved"},
    {quad(192, 0, 2, 0), 24, "documentation"},
    {quad(192, 88, 99, 0), 24, "reserved"},
    {quad(192, 168, 0, 0), 16, "private"},
    {quad(198, 18, 0, 0), 15, "benchmark"},
    {quad(198, 51, 100, 0), 24, "documentation"},
    {quad(203, 0, 113, 0), 24, "documentation"},
    {quad(224, 0, 0, 0), 4, "multicast"},
    {quad(240, 0, 0, 0), 4, "reserved"},
};

std::optional<std::string_view> refused_v4(std::uint32_t a) {
  for (const auto& b : v4_blocks)
    if ((a ^ b.net) >> (32 - b.bits) == 0) return b.why;
  return std::nullopt;
}

struct v6_block {
  std::array<std::uint8_t, 16> net;
  int bits;
  std::string_view why;
};

// Blocks inside 2000::/3; everything outside is refused except NAT64.
constexpr v6_block v6_blocks[] = {
    {{0x20, 0x01, 0x00, 0x00}, 32, "tunnel"},  // Teredo
    {{0x20, 0x01, 0x00, 0x02, 0x00, 0x00}, 48, "benchmark"},
    {{0x20, 0x01, 0x00, 0x10}, 28, "reserved"},  // ORCHID
    {{0x20, 0x01, 0x00, 0x20}, 28, "reserved"},  // ORCHIDv2
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "documentation"},
    {{0x3f, 0xff, 0x00, 0x00}, 20, "documentation"},
};

bool inside(const std::array<std::uint8_t, 16>& a, const std::array<std::uint8_t, 16>& net, int bits) {
  const int whole = bits / 8;
  if (!std::equal(a.begin(), a.begin() + whole, net.begin())) return false;
  const int rest = bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - rest));
  return (a[whole] & mask) == (net[whole] & mask);
}

std::uint32_t v4_at(const std::array<std::uint8_t, 16>& a, int at) {
  return quad(a[at], a[at + 1], a[at + 2], a[at + 3]);
}

std::optional<std::string_view> refused_v6(const std::array<std::uint8_t, 16>& a) {
  constexpr std::array<std::uint8_t, 16> zero{};
  constexpr std::array<std::uint8_t, 16> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  constexpr std::array<std::uint8_t, 16> translated{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0};
  constexpr std::array<std::uint8_t, 16> nat64{0x00, 0x64, 0xff, 0x9b};
  if (inside(a, zero, 96)) {
    const auto low = v4_at(a, 12);
    return low == 0 ? "unspecified" : low == 1 ? "loopback" : "IPv4-compatible";
  }
  if (inside(a, mapped, 96) || inside(a, translated, 96)) return "IPv4-mapped";
  if (inside(a, nat64, 96)) return refused_v4(v4_at(a, 12));
  if ((a[0] & 0xfe) == 0xfc) return "private";
  if (a[0] == 0xfe && (a[1] & 0xc0) == 0x80) return "link-local";
  if (a[0] == 0xff) return "multicast";
  if ((a[0] & 0xe0) != 0x20) return "reserved";
  if (a[0] == 0x20 && a[1] == 0x02) return refused_v4(v4_at(a, 2));
  for (const auto& b : v6_blocks)
    if (inside(a, b.net, b.bits)) return b.why;
  return std::nullopt;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

// "0x7f", "0177", "127"; nullopt if it is not a number of at most 32 bits.
std::optional<std::uint64_t> number(std::string_view s) {
  if (s.empty()) return std::nullopt;
  unsigned base = 10;
  if (s.size() >= 2 && s[0] == '0' && s[1] == 'x') {
    base = 16;
    s.remove_prefix(2);
  } else if (s.size() >= 2 && s[0] == '0') {
    base = 8;
    s.remove_prefix(1);
  }
  std::uint64_t v = 0;
  for (char c : s) {
    if (!is_hex(c)) return std::nullopt;
    const unsigned d = is_digit(c) ? c - '0' : c - 'a' + 10;
    if (d >= base) return std::nullopt;
    v = v * base + d;
    if (v > 0xffffffffu) return std::nullopt;
  }
  return v;
}

bool numeric_label(std::string_view s) {
  if (s.empty()) return false;
  if (std::all_of(s.begin(), s.end(), is_digit)) return true;
  return s.size() >= 2 && s[0] == '0' && s[1] == 'x' && std::all_of(s.begin() + 2, s.end(), is_hex);
}

std::vector<std::string_view> labels(std::string_view s) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto dot = s.find('.');
    out.push_back(s.substr(0, dot));
    if (dot == std::string_view::npos) return out;
    s.remove_prefix(dot + 1);
  }
}

std::optional<ip::address_v4> parse_v4(const std::vector<std::string_view>& parts) {
  if (parts.size() > 4) return std::nullopt;
  std::uint64_t a = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto n = number(parts[i]);
    if (!n) return std::nullopt;
    if (i + 1 < parts.size()) {
      if (*n > 255) return std::nullopt;
      a |= *n << (24 - 8 * i);
    } else {
      if (*n >> (32 - 8 * i)) return std::nullopt;
      a |= *n;
    }
  }
  return ip::address_v4(static_cast<std::uint32_t>(a));
}

bool valid_label(std::string_view l) {
  if (l.empty() || l.size() > 63) return false;
  return std::all_of(l.begin(), l.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; });
}

}  // namespace

std::optional<std::string_view> refused_address(const ip::address& address) {
  if (address.is_v4()) return refused_v4(address.to_v4().to_uint());
  return refused_v6(address.to_v6().to_bytes());
}

std::optional<std::string_view> refused_name(std::string_view host) {
  constexpr std::string_view exact[] = {"localhost",
                                        "ip6-localhost",
                                        "ip6-loopback",
                                        "localdomain",
                                        "metadata",
                                        "instance-data",
                                        "kubernetes",
                                        "local",
                                        "internal",
                                        "kubernetes.default",
                                        "kubernetes.default.svc"};
  constexpr std::string_view suffixes[] = {".localhost", ".localdomain", ".local", ".internal", ".home.arpa"};
  for (auto name : exact)
    if (host == name) return "local or metadata name";
  for (auto suffix : suffixes)
    if (host.ends_with(suffix)) return "local or metadata name";
  return std::nullopt;
}

std::optional<host> parse_host(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    boost::system::error_code ec;
    const std::string inner(text.substr(1, text.size() - 2));
    if (inner.find('%') != std::string::npos) return std::nullopt;  // zones are only valid locally
    const auto a = ip::make_address_v6(inner, ec);
    if (ec) return std::nullopt;
    return host{a.to_string(), ip::address(a)};
  }
  std::string name = lower_ascii(text);
  if (name.ends_with('.')) name.pop_back();
  if (name.empty() || name.size() > 253) return std::nullopt;
  const auto parts = labels(name);
  if (numeric_label(parts.back())) {
    const auto a = parse_v4(parts);
    if (!a) return std::nullopt;
    return host{a->to_string(), ip::address(*a)};
  }
  if (!std::all_of(parts.begin(), parts.end(), valid_label)) return std::nullopt;
  return host{std::move(name), std::nullopt};
}

}  // namespace ry::http::guard

// Checks the bytes of header field names and values (RFC 9110, 5.1 and 5.5). Uses a lookup table because it checks
// every byte of every request and response head. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ry::http {

namespace detail {

enum : std::uint8_t { in_token = 1, in_value = 2 };

constexpr std::array<std::uint8_t, 256> field_bytes = [] {
  std::array<std::uint8_t, 256> out{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || (c != 0 && std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos))
      out[c] |= in_token;
    if (c == '\t' || (c >= 0x20 && c != 0x7f)) out[c] |= in_value;
  }
  return out;
}();

constexpr bool all_are(std::string_view text, std::uint8_t kind) noexcept {
  std::uint8_t all = kind;
  for (const char c : text) all &= field_bytes[static_cast<unsigned char>(c)];
  return all != 0;
}

}  // namespace detail

constexpr bool is_token_char(char c) noexcept {
  return (detail::field_bytes[static_cast<unsigned char>(c)] & detail::in_token) != 0;
}
// True for a valid method or field name.
constexpr bool is_token(std::string_view text) noexcept {
  return !text.empty() && detail::all_are(text, detail::in_token);
}
constexpr bool is_field_value(std::string_view text) noexcept {
  return detail::all_are(text, detail::in_value);
}

}  // namespace ry::http

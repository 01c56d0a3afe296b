// ASCII text, independent of the locale. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ry {

constexpr char lower_ascii(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Bytes outside ASCII stay as they are.
inline std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_ascii(c);
  return out;
}

// The value of a hexadecimal digit in either case; -1: not a digit.
constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower_ascii(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Appends a byte as two lower-case hexadecimal digits.
inline void append_hex(std::string& to, std::uint8_t byte) {
  constexpr char digits[] = "0123456789abcdef";
  to += digits[byte >> 4];
  to += digits[byte & 15];
}

// Bytes: a range of char, unsigned char or std::byte.
template <class Bytes>
std::string to_hex(const Bytes& bytes) {
  std::string out;
  for (const auto b : bytes) append_hex(out, static_cast<std::uint8_t>(b));
  return out;
}

// Returns the text without the characters of `blanks` at both ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") noexcept {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

constexpr bool has_http_scheme(std::string_view url) noexcept {
  return url.starts_with("http://") || url.starts_with("https://");
}

// Percent-encodes every byte except the unreserved characters of RFC 3986, for one path segment or query value.
inline std::string percent_encoded(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const char l = lower_ascii(c);
    if ((l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      const auto byte = static_cast<std::uint8_t>(c);
      ((out += '%') += digits[byte >> 4]) += digits[byte & 15];
    }
  }
  return out;
}

}  // namespace ry

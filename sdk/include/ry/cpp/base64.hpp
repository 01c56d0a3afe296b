// Base64 (RFC 4648), strict in both directions: one spelling for each byte string. libsodium before 1.0.19 also decodes
// bytes above 0x7f, so text from outside must not reach sodium_base642bin.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ry {

enum class base64_alphabet { standard, url };
enum class base64_padding { none, required, optional };

namespace detail {

inline constexpr std::string_view base64_characters(base64_alphabet a) noexcept {
  return a == base64_alphabet::standard
             ? std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
             : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
}

using base64_table = std::array<std::int8_t, 256>;
inline constexpr base64_table base64_values(base64_alphabet a) noexcept {
  base64_table out{};
  for (auto& v : out) v = -1;
  const auto characters = base64_characters(a);
  for (std::size_t i = 0; i < characters.size(); ++i)
    out[static_cast<unsigned char>(characters[i])] = static_cast<std::int8_t>(i);
  return out;
}

}  // namespace detail

inline std::string base64_encode(std::string_view bytes, base64_alphabet alphabet, bool padded) {
  const auto characters = detail::base64_characters(alphabet);
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t acc = 0;
  int bits = 0;
  for (const char c : bytes) {
    acc = (acc << 8) | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6;) {
      bits -= 6;
      out.push_back(characters[(acc >> bits) & 63]);
    }
    acc &= (1u << bits) - 1;
  }
  if (bits > 0) out.push_back(characters[(acc << (6 - bits)) & 63]);
  while (padded && out.size() % 4 != 0) out.push_back('=');
  return out;
}

// nullopt for white space, foreign characters and bytes, an impossible length, non-zero unused bits, and padding that
// is wrong, missing or not allowed.
inline std::optional<std::string> base64_decode(std::string_view text, base64_alphabet alphabet,
                                                base64_padding padding) {
  static constexpr detail::base64_table tables[] = {detail::base64_values(base64_alphabet::standard),
                                                    detail::base64_values(base64_alphabet::url)};
  const auto& values = tables[alphabet == base64_alphabet::url];
  const std::size_t whole = text.size();
  std::size_t end = whole;
  while (end > 0 && whole - end < 2 && text[end - 1] == '=') --end;
  const bool padded = end != whole;
  if (padding == base64_padding::none ? padded : (padded || padding == base64_padding::required) && whole % 4 != 0)
    return std::nullopt;
  text = text.substr(0, end);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t acc = 0;
  int bits = 0;
  for (const char c : text) {
    const auto v = values[static_cast<unsigned char>(c)];
    if (v < 0) return std::nullopt;
    acc = (acc << 6) | static_cast<std::uint32_t>(v);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out.push_back(static_cast<char>((acc >> bits) & 0xff));
      acc &= (1u << bits) - 1;
    }
  }
  if (acc != 0) return std::nullopt;
  return out;
}

}  // namespace ry

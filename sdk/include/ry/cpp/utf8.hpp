// Decoding and validation of UTF-8. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ry {

// The number of bytes of the character at the start of a non-empty text; 0: invalid (a byte out of place, an overlong
// form, a surrogate, a value above U+10FFFF) or truncated.
inline std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t n = first >= 0xC2 && first <= 0xDF   ? 2
                        : (first & 0xF0) == 0xE0         ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4
                                                         : 0;
  if (n == 0 || text.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) || (first == 0xF0 && byte(1) < 0x90) ||
      (first == 0xF4 && byte(1) > 0x8F))
    return 0;
  return n;
}

// Removes and returns the first character. `text` is valid UTF-8 and not empty.
inline char32_t next_code_point(std::string_view& text) noexcept {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t n = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t c = n == 1 ? lead : lead & (0xFFu >> (n + 1));
  for (std::size_t k = 1; k < n; ++k) c = (c << 6) | (static_cast<unsigned char>(text[k]) & 0x3Fu);
  text.remove_prefix(n);
  return c;
}

inline bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

// Replaces each invalid byte with U+FFFD.
inline std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    out += n != 0 ? text.substr(0, n) : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(n != 0 ? n : 1);
  }
  return out;
}

// Appends the character. `c` is a Unicode scalar value.
inline void append_utf8(std::string& out, char32_t c) {
  const auto continuation = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    continuation(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    continuation(6);
    continuation(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

// The length of the longest prefix that does not end inside a character. Invalid UTF-8 loses at most three bytes.
inline std::size_t whole_characters(std::string_view text) noexcept {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto c = static_cast<unsigned char>(text[text.size() - back]);
    if ((c & 0xC0) == 0x80) continue;
    const std::size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace ry

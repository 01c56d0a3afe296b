#include "plain_text.hpp"

#include <array>

namespace extract {
namespace {

using namespace std::string_view_literals;

// The length of the character at `at`, 0 when there is none; `cut` when it ends beyond the text.
std::size_t utf8_length(std::string_view text, std::size_t at, bool& cut) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char c = byte(0);
  if (c < 0x80) return 1;
  const std::size_t n = c >= 0xF0 && c <= 0xF4 ? 4 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xC2 && c < 0xE0 ? 2 : 0;
  if (n == 0) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (at + i >= text.size()) {
      cut = true;
      return 0;
    }
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if ((c == 0xE0 && byte(1) < 0xA0) || (c == 0xED && byte(1) > 0x9F) || (c == 0xF0 && byte(1) < 0x90) ||
      (c == 0xF4 && byte(1) > 0x8F))
    return 0;
  return n;
}

std::optional<std::string> utf8(std::string_view bytes, part of) {
  for (std::size_t at = 0; at < bytes.size();) {
    bool cut = false;
    const std::size_t n = utf8_length(bytes, at, cut);
    if (n == 0) {
      if (cut && of == part::beginning) return std::string(bytes.substr(0, at));
      return std::nullopt;
    }
    at += n;
  }
  return std::string(bytes);
}

enum class order { little, big };
std::string utf16(std::string_view bytes, order how) {
  std::string out;
  const auto unit = [&](std::size_t at) -> char32_t {
    const auto a = static_cast<unsigned char>(bytes[at]), b = static_cast<unsigned char>(bytes[at + 1]);
    return how == order::little ? a | b << 8 : a << 8 | b;
  };
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    char32_t c = unit(at);
    if (c >= 0xD800 && c < 0xDC00 && at + 3 < bytes.size()) {
      const char32_t low = unit(at + 2);
      if (low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        at += 2;
      }
    }
    append_utf8(out, c >= 0xD800 && c < 0xE000 ? 0xFFFD : c);
  }
  return out;
}

std::string windows_1252(std::string_view bytes) {
  static constexpr std::array<char16_t, 32> upper = {
      0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
      0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
      0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178};
  std::string out;
  for (char raw : bytes) {
    const auto c = static_cast<unsigned char>(raw);
    append_utf8(out, c >= 0x80 && c < 0xA0 ? upper[c - 0x80] : c);
  }
  return out;
}

// What texts do not have: NUL and most control characters.
bool looks_binary(std::string_view bytes) {
  std::size_t odd = 0;
  for (char raw : bytes) {
    const auto c = static_cast<unsigned char>(raw);
    if (c == 0) return true;
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B) ++odd;
    if (c == 0x7F) ++odd;
  }
  return odd * 100 > bytes.size();
}

}  // namespace

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

bool cut_text(std::string& text, std::size_t most) {
  if (text.size() <= most) return false;
  // Start of the character at the cut. Bytes that are not UTF-8 lose no more than one character would have.
  std::size_t at = most;
  while (at > 0 && most - at < 3 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  text.resize((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80 ? most : at);
  return true;
}

std::optional<std::string> read_text(std::string_view bytes, part of) {
  if (bytes.starts_with("\xFF\xFE"sv)) return utf16(bytes.substr(2), order::little);
  if (bytes.starts_with("\xFE\xFF"sv)) return utf16(bytes.substr(2), order::big);
  if (bytes.starts_with("\xEF\xBB\xBF"sv)) bytes.remove_prefix(3);
  if (looks_binary(bytes)) return std::nullopt;
  if (auto text = utf8(bytes, of)) return text;
  return windows_1252(bytes);
}

}  // namespace extract

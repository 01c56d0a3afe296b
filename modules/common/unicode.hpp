// Handles invisible characters in UTF-8: detects blank texts and normalizes names for display. Pure functions.
#pragma once
#include <cstddef>
#include <ry/cpp/utf8.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace unicode {

namespace detail {
using range = std::pair<char32_t, char32_t>;
template <std::size_t n>
constexpr bool is_in(const range (&ranges)[n], char32_t c) {
  for (const range& r : ranges)
    if (c >= r.first && c <= r.second) return true;
  return false;
}
}  // namespace detail

// Characters with the Unicode property White_Space.
constexpr bool is_space(char32_t c) {
  constexpr detail::range spaces[] = {{0x09, 0x0D},     {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
                                      {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                                      {0x205F, 0x205F}, {0x3000, 0x3000}};
  return detail::is_in(spaces, c);
}

// Control characters, and characters that change the writing direction.
constexpr bool is_control(char32_t c) {
  constexpr detail::range controls[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x61C, 0x61C},
                                        {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x206F}};
  return detail::is_in(controls, c);
}

// Control and format characters (Cc and Cf).
constexpr bool is_invisible(char32_t c) {
  constexpr detail::range formats[] = {{0xAD, 0xAD},       {0x600, 0x605},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
                                       {0x890, 0x891},     {0x8E2, 0x8E2},     {0x180E, 0x180E},   {0x200B, 0x200D},
                                       {0x2060, 0x2065},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0x110BD, 0x110BD},
                                       {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
                                       {0xE0001, 0xE0001}, {0xE0020, 0xE007F}};
  return is_control(c) || detail::is_in(formats, c);
}

// Whether the text has no visible character. Invalid UTF-8 counts as visible.
inline bool is_blank(std::string_view text) {
  while (!text.empty()) {
    if (ry::utf8_length(text) == 0) return false;
    const char32_t c = ry::next_code_point(text);
    if (!is_space(c) && !is_invisible(c)) return false;
  }
  return true;
}

// Normalizes a name or title for storage: removes control characters, characters that change the writing direction, and
// spaces at both ends, and replaces line breaks and tabs with spaces. Keeps joiners, because emoji and some scripts
// need them. Returns an empty string if nothing is visible. `text` must be valid UTF-8.
inline std::string clean_name(std::string_view text) {
  if (is_blank(text)) return {};
  const auto becomes_space = [](char32_t c) {
    return (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0x2028 || c == 0x2029;
  };
  const auto is_padding = [](char32_t c) { return is_space(c) || c == 0x200B || c == 0x2060 || c == 0xFEFF; };
  std::string out;
  std::size_t end = 0;  // end of the part without trailing padding
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = ry::next_code_point(text);
    if (becomes_space(c)) {
      if (!out.empty()) out += ' ';
    } else if (is_padding(c)) {
      if (!out.empty()) out += before.substr(0, before.size() - text.size());
    } else if (!is_control(c)) {
      out += before.substr(0, before.size() - text.size());
      end = out.size();
    }
  }
  out.resize(end);
  return out;
}

}  // namespace unicode

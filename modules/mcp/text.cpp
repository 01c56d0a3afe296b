#include "text.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <ry/cpp/utf8.hpp>
#include <utility>

namespace mcp {
namespace {

// The code point of one character; for an invalid byte, its value.
char32_t code_point(std::string_view character) noexcept {
  return character.size() == 1 ? static_cast<unsigned char>(character.front()) : ry::next_code_point(character);
}

bool is_hidden(char32_t c) noexcept {
  static constexpr std::pair<char32_t, char32_t> ranges[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200b},
      {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](const auto& r) { return c >= r.first && c <= r.second; });
}

// Calls `visit` for each character until it returns false.
template <class F>
void for_each_character(std::string_view s, F visit) {
  while (!s.empty()) {
    const auto n = std::max<std::size_t>(1, ry::utf8_length(s));
    if (!visit(s.substr(0, n))) return;
    s.remove_prefix(n);
  }
}

// The UTF-16 code unit of the JSON escape at `at`; -1 if there is none.
long utf16_unit(std::string_view s, std::size_t at) noexcept {
  if (s.size() < at + 6 || s[at] != '\\' || s[at + 1] != 'u') return -1;
  unsigned value = 0;
  const auto* from = s.data() + at + 2;
  const auto [end, ec] = std::from_chars(from, from + 4, value, 16);
  return ec == std::errc() && end == from + 4 ? static_cast<long>(value) : -1;
}

}  // namespace

std::string_view truncated(std::string_view s, std::size_t max_bytes) noexcept {
  return s.size() <= max_bytes ? s : s.substr(0, ry::whole_characters(s.substr(0, max_bytes)));
}

std::string valid_utf8(std::string_view s, std::size_t max_bytes) {
  std::string out;
  out.reserve(s.size() < max_bytes ? s.size() : max_bytes);
  while (!s.empty()) {
    // Fast path for ASCII.
    const auto ascii = static_cast<std::size_t>(
        std::find_if(s.begin(), s.end(), [](unsigned char c) { return c >= 0x80; }) - s.begin());
    out += s.substr(0, std::min(ascii, max_bytes - out.size()));
    s.remove_prefix(ascii);
    if (s.empty()) break;
    const auto n = ry::utf8_length(s);
    const auto piece = n != 0 ? s.substr(0, n) : std::string_view("\xef\xbf\xbd");
    if (out.size() + piece.size() > max_bytes) break;
    out += piece;
    s.remove_prefix(n != 0 ? n : 1);
  }
  return out;
}

bool has_hidden(std::string_view s) noexcept {
  bool found = false;
  for_each_character(s, [&](std::string_view c) { return !(found = is_hidden(code_point(c))); });
  return found;
}

std::string without_hidden(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for_each_character(s, [&](std::string_view c) {
    const bool layout = c == "\n" || c == "\r" || c == "\t";
    if (layout || !is_hidden(code_point(c))) out += c;
    return true;
  });
  return out;
}

std::string repaired_json(std::string_view json_text) {
  auto out = valid_utf8(json_text, std::string::npos);
  const auto high = [](long u) { return u >= 0xd800 && u < 0xdc00; };
  const auto low = [](long u) { return u >= 0xdc00 && u < 0xe000; };
  for (auto at = out.find('\\'); at != std::string::npos;) {
    const auto u = utf16_unit(out, at);
    std::size_t length = u < 0 ? 2 : 6;
    if (high(u) && low(utf16_unit(out, at + 6))) {
      length = 12;
    } else if (high(u) || low(u)) {
      out.replace(at, 6, "\\ufffd");
    }
    at = out.find('\\', at + length);
  }
  return out;
}

}  // namespace mcp

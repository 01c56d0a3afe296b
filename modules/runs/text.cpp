#include "text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/types.hpp>
#include <ry/cpp/utf8.hpp>
#include <utility>

#include "common/unicode.hpp"

namespace runs {
namespace {

// The escape of a character that some line readers treat as the end of a line, although neither SSE nor JSON does.
std::string_view line_end_escape(std::string_view character) {
  if (character[0] != '\xE2' && character[0] != '\xC2') return {};
  if (character == "\xE2\x80\xA8") return "\\u2028";
  if (character == "\xE2\x80\xA9") return "\\u2029";
  if (character == "\xC2\x85") return "\\u0085";
  return {};
}

// Starting at `at`, skips groups of eight bytes that a JSON string can contain unescaped.
std::size_t skip_plain(std::string_view text, std::size_t at) {
  constexpr std::uint64_t ones = 0x0101010101010101, tops = ones << 7;
  for (std::uint64_t v = 0; text.size() - at >= sizeof v; at += sizeof v) {
    std::memcpy(&v, text.data() + at, sizeof v);
    // Each difference sets the top bit of a byte that is smaller than the subtrahend. A borrow can only come from such
    // a byte, so none is missed.
    const std::uint64_t quotes = v ^ (ones * '"'), backslashes = v ^ (ones * '\\');
    if (((v | (v - ones * 0x20) | (quotes - ones) | (backslashes - ones)) & tops) != 0) break;
  }
  return at;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // start of the bytes to copy unchanged
  std::size_t i = 0;
  const auto copy = [&] { out.append(text, plain, i - plain); };
  while ((i = skip_plain(text, i)) < text.size()) {
    const auto is_plain = [](unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; };
    while (i < text.size() && is_plain(static_cast<unsigned char>(text[i]))) ++i;
    if (i == text.size()) break;
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      if (const std::size_t n = ry::utf8_length(text.substr(i)); n != 0) {
        const std::string_view character = text.substr(i, n);
        const std::string_view escape = line_end_escape(character);
        if (escape.empty()) {
          i += n;
          continue;
        }
        copy();
        out += escape;
        plain = i += n;
        continue;
      }
      copy();
      out += "\xEF\xBF\xBD";
    } else {
      copy();
      switch (c) {
        case '"':
          out += "\\\"";
          break;
        case '\\':
          out += "\\\\";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        default:
          ry::append_hex(out += "\\u00", c);
      }
    }
    plain = ++i;
  }
  copy();
  out += '"';
}

std::string escape_line_ends(std::string json) {
  std::string out;
  std::size_t plain = 0;
  for (std::size_t at = json.find_first_of("\xE2\xC2"); at != std::string::npos;
       at = json.find_first_of("\xE2\xC2", at)) {
    const std::size_t n = json[at] == '\xE2' ? 3 : 2;
    const std::string_view escape = line_end_escape(std::string_view(json).substr(at, n));
    if (!escape.empty()) {
      out.append(json, plain, at - plain).append(escape);
      plain = at + n;
    }
    at += n;
  }
  if (plain == 0) return json;
  return out.append(json, plain, std::string::npos);
}

std::string json_string(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json_string(out, text);
  return out;
}

std::string plain_sentence(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = ry::utf8_length(text.substr(i));
    const auto c = static_cast<unsigned char>(text[i]);
    if (n == 0)
      out += "\xEF\xBF\xBD";
    else if (c < 0x20 || c == 0x7F)
      out += ' ';
    else
      out += text.substr(i, n);
    i += n == 0 ? 1 : n;
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  const std::size_t head = ry::whole_characters(text.substr(0, max_bytes / 2));
  std::size_t tail = text.size() - max_bytes / 2;
  while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xC0) == 0x80) ++tail;
  return std::string(text.substr(0, head)) + "\n[... " + std::to_string(tail - head) + " bytes omitted ...]\n" +
         std::string(text.substr(tail));
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr std::array<const char*, 4> units = {"KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  std::uint64_t scale = 1024;
  while (unit + 1 < units.size() && bytes / scale >= 1024) {
    scale *= 1024;
    ++unit;
  }
  const std::uint64_t tenths = bytes / scale * 10 + bytes % scale * 10 / scale;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " " + units[unit];
}

std::string credits_text(std::int64_t micro) {
  const bool negative = micro < 0;
  const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(micro) : static_cast<std::uint64_t>(micro);
  std::string out = (negative ? "-" : "") + std::to_string(magnitude / 1000000);
  std::string fraction = std::to_string(1000000 + magnitude % 1000000).substr(1);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return fraction.empty() ? out : out + "." + fraction;
}

std::optional<std::int64_t> micro_of_credits(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view part = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() || whole.size() > 10 || part.size() > 6) return std::nullopt;
  if (point != std::string_view::npos && part.empty()) return std::nullopt;
  std::int64_t micro = 0;
  for (char c : std::string(whole) + std::string(part) + std::string(6 - part.size(), '0')) {
    if (c < '0' || c > '9') return std::nullopt;
    micro = micro * 10 + (c - '0');
  }
  constexpr std::int64_t max_micro = 1'000'000'000'000'000;
  return micro <= max_micro ? std::optional(micro) : std::nullopt;
}

std::string milliseconds_text(std::int64_t microseconds) {
  if (microseconds < 0) microseconds = 0;
  return std::to_string(microseconds / 1000) + "." + std::to_string(1000 + microseconds % 1000).substr(1);
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string trim(std::string_view text) {
  const std::string_view space = " \t\r\n\f\v";
  const std::size_t from = text.find_first_not_of(space);
  if (from == std::string_view::npos) return {};
  return std::string(text.substr(from, text.find_last_not_of(space) - from + 1));
}

bool is_invisible(char32_t c) {
  static constexpr std::pair<char32_t, char32_t> ranges[] = {
      {0x80, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},   {0x180E, 0x180E}, {0x200B, 0x200F},
      {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](const auto& r) { return c >= r.first && c <= r.second; });
}

std::optional<std::string> canonical_uuid(std::string_view text) {
  const auto parsed = ry::uuid::parse(text);
  if (!parsed) return std::nullopt;
  return parsed->to_string();
}

std::string encode_cursor(std::string_view list, std::string_view first, std::string_view second) {
  return ry::base64_encode(std::string(list) + "," + std::string(first) + "," + std::string(second),
                           ry::base64_alphabet::url, false);
}

std::optional<cursor> decode_cursor(std::string_view list, std::string_view text) {
  if (text.size() > 300) return std::nullopt;
  const auto plain = ry::base64_decode(text, ry::base64_alphabet::url, ry::base64_padding::none);
  if (!plain || !plain->starts_with(list) || plain->size() == list.size() || (*plain)[list.size()] != ',')
    return std::nullopt;
  const std::string parts = plain->substr(list.size() + 1);
  const std::size_t comma = parts.find(',');
  if (comma == std::string::npos) return std::nullopt;
  return cursor{parts.substr(0, comma), parts.substr(comma + 1)};
}

}  // namespace runs

#include "plain_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <ry/cpp/utf8.hpp>
#include <utility>

#include "encoding.hpp"
#include "transcode.hpp"

namespace extract {
namespace {

using namespace std::string_view_literals;

// The numbers of valid multi-byte characters and of invalid bytes; an incomplete last character is neither.
struct utf8_count {
  std::size_t valid = 0, invalid = 0;
};

// Copies UTF-8; an invalid byte becomes U+FFFD.
std::string utf8(std::string_view bytes, part of, utf8_count& count) {
  if (of == part::beginning) bytes = bytes.substr(0, ry::whole_characters(bytes));
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t n = ry::utf8_length(bytes.substr(at));
    if (n == 0) {
      ++count.invalid;
      ry::append_utf8(out, 0xFFFD);
    } else {
      if (n > 1) ++count.valid;
      out.append(bytes, at, n);
    }
    at += std::max<std::size_t>(n, 1);
  }
  return out;
}

// Whether the bytes contain NUL or more than 1 % of control characters that do not occur in text.
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

bool cut_text(std::string& text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return false;
  text.resize(ry::whole_characters(std::string_view(text).substr(0, max_bytes)));
  return true;
}

namespace {

plain_text converted(std::string text, std::string encoding) {
  return {plain_text::outcome::read, std::move(text), std::move(encoding), false};
}

// Converts a file that begins with a byte order mark; the rest may be damaged.
std::optional<plain_text> marked(std::string_view bytes, part of) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> marks{
      {{"\xFF\xFE\0\0"sv, "UTF-32LE"},
       {"\0\0\xFE\xFF"sv, "UTF-32BE"},
       {"\xFF\xFE"sv, "UTF-16LE"},
       {"\xFE\xFF"sv, "UTF-16BE"},
       {"\x84\x31\x95\x33"sv, "GB18030"}}};
  for (const auto& [mark, encoding] : marks) {
    if (!bytes.starts_with(mark)) continue;
    const std::string name(encoding);
    const std::string_view rest = bytes.substr(mark.size());
    if (auto text = to_utf8(rest, name, of == part::beginning)) return converted(std::move(*text), name);
    if (name == "UTF-16LE" || name == "UTF-16BE") {
      plain_text out = converted(repaired_utf8(rest, name), name);
      out.damaged = true;
      return out;
    }
  }
  return std::nullopt;
}

// A file with this many valid characters for each invalid byte is damaged UTF-8, not text in another encoding.
constexpr std::size_t valid_per_invalid = 8;

}  // namespace

plain_text read_text(std::string_view bytes, part of) {
  const bool cut = of == part::beginning;
  if (auto text = marked(bytes, of)) return *std::move(text);
  const bool utf8_mark = bytes.starts_with("\xEF\xBB\xBF"sv);
  if (utf8_mark) bytes.remove_prefix(3);
  if (looks_binary(bytes)) {
    if (auto wide = read_wide(bytes, cut)) return converted(std::move(wide->text), std::move(wide->encoding));
    return {};
  }
  utf8_count count;
  plain_text out = converted(utf8(bytes, of, count), {});
  // ISO 2022 is a 7-bit encoding; its escapes, which designate two-byte character sets, differ from those of terminals.
  const bool shifts = bytes.find("\x1B$"sv) != bytes.npos;
  if (count.invalid == 0 && !shifts) return out;
  for (const std::string& name : {declared_encoding(bytes), detect_encoding(bytes)})
    if (!name.empty() && !utf8_mark && name != "UTF-8" && (count.invalid != 0 || name.starts_with("ISO-2022")))
      if (count.invalid == 0 || count.valid < valid_per_invalid * count.invalid)
        if (auto text = to_utf8(bytes, name, cut)) return converted(std::move(*text), name);
  if (count.invalid == 0) return out;
  if (utf8_mark || count.valid >= valid_per_invalid * count.invalid) {
    out.damaged = true;
    return out;
  }
  out.is = plain_text::outcome::unknown_encoding;
  out.text.clear();
  return out;
}

}  // namespace extract

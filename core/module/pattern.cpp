#include "core/module/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

namespace ry::module {

namespace {

constexpr std::size_t max_length = 512;
constexpr std::size_t max_segments = 32;

bool is_name(std::string_view s) noexcept {
  if (s.empty() || s.size() > 64) return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (!letter(s[0])) return false;
  return std::all_of(s.begin(), s.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Characters allowed in a path without percent-encoding (RFC 3986 pchar).
bool literal_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~!$&'()*+,;=:@").find(c) != std::string_view::npos;
}

[[noreturn]] void reject_pattern(std::string_view pattern, const std::string& why) {
  throw std::invalid_argument("pattern \"" + std::string(pattern.substr(0, 200)) + "\": " + why);
}

pattern_segment parse_segment(std::string_view whole, std::string_view part) {
  using kind = pattern_segment::kind;
  if (part.find_first_of("{}") == std::string_view::npos) {
    for (const char c : part)
      if (!literal_char(c))
        reject_pattern(whole, "a path segment may contain letters, digits and -._~!$&'()*+,;=:@ only");
    if (part == "." || part == "..") reject_pattern(whole, "\".\" and \"..\" are not path segments");
    return {kind::literal, std::string(part)};
  }
  if (part.size() < 2 || part.front() != '{' || part.back() != '}')
    reject_pattern(whole, "a parameter must be a complete segment, as in /{name}/");
  std::string_view name = part.substr(1, part.size() - 2);
  kind what = kind::param;
  if (name.ends_with("...")) {
    name.remove_suffix(3);
    what = kind::rest;
  }
  if (!is_name(name)) reject_pattern(whole, "a parameter's name is a letter or '_' followed by letters, digits or '_'");
  return {what, std::string(name)};
}

}  // namespace

pattern::pattern(std::string_view text) : text_(text) {
  if (text.empty() || text[0] != '/') reject_pattern(text, "it must begin with '/'");
  if (text.size() > max_length) reject_pattern(text, "it is longer than 512 bytes");
  std::string_view left = text.substr(1);
  for (;;) {
    const std::size_t slash = left.find('/');
    const bool last = slash == std::string_view::npos;
    const std::string_view part = left.substr(0, slash);
    if (part.empty() && !last) reject_pattern(text, "it has an empty segment");
    pattern_segment s = parse_segment(text, part);
    if (s.what == pattern_segment::kind::rest && !last)
      reject_pattern(text, "{" + s.text + "...} must be the last segment");
    if (s.what != pattern_segment::kind::literal)
      for (const auto& before : segments_)
        if (before.what != pattern_segment::kind::literal && before.text == s.text)
          reject_pattern(text, "the parameter {" + s.text + "} occurs twice");
    segments_.push_back(std::move(s));
    if (segments_.size() > max_segments) reject_pattern(text, "it has more than 32 segments");
    if (last) return;
    left.remove_prefix(slash + 1);
  }
}

overlap compare(const pattern& a, const pattern& b) noexcept {
  using kind = pattern_segment::kind;
  const auto& x = a.segments();
  const auto& y = b.segments();
  bool first = false, second = false;  // narrower in at least one segment
  const auto verdict = [&] {
    if (first && second) return overlap::ambiguous;
    if (first) return overlap::first_narrower;
    return second ? overlap::second_narrower : overlap::same;
  };
  std::size_t i = 0;
  for (; i < x.size() && i < y.size(); ++i) {
    const bool x_rest = x[i].what == kind::rest, y_rest = y[i].what == kind::rest;
    if (x_rest || y_rest) {
      first = first || !x_rest;
      second = second || !y_rest;
      return verdict();
    }
    const bool x_lit = x[i].what == kind::literal, y_lit = y[i].what == kind::literal;
    if (x_lit && y_lit) {
      if (x[i].text != y[i].text) return overlap::none;
    } else if (x_lit || y_lit) {
      if ((x_lit ? x[i] : y[i]).text.empty()) return overlap::none;
      (x_lit ? first : second) = true;
    }
  }
  return i == x.size() && i == y.size() ? verdict() : overlap::none;
}

bool known_method(std::string_view method) noexcept {
  static constexpr std::array<std::string_view, 7> known = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  return std::find(known.begin(), known.end(), method) != known.end();
}

}  // namespace ry::module

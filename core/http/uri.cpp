#include "core/http/uri.hpp"

#include <algorithm>
#include <ry/cpp/text.hpp>

namespace ry::http::serving {

namespace {

bool decode(std::string_view in, std::string& out, char plus) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    char c = in[i];
    if (c == '%') {
      if (i + 2 >= in.size()) return false;
      const int hi = hex_value(in[i + 1]), lo = hex_value(in[i + 2]);
      if (hi < 0 || lo < 0) return false;
      c = static_cast<char>(hi * 16 + lo);
      i += 2;
    } else if (c == '+') {
      c = plus;
    }
    if (c == '\0') return false;
    out.push_back(c);
  }
  return true;
}

bool starts_with_nocase(std::string_view s, std::string_view lower) {
  if (s.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const char c = s[i] >= 'A' && s[i] <= 'Z' ? static_cast<char>(s[i] + 32) : s[i];
    if (c != lower[i]) return false;
  }
  return true;
}

}  // namespace

bool percent_decode(std::string_view in, std::string& out) {
  return decode(in, out, '+');
}
bool form_decode(std::string_view in, std::string& out) {
  return decode(in, out, ' ');
}

bool is_authority(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t end = 0;
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos) return false;
    for (const char c : text.substr(1, end - 1))
      if (hex_value(c) < 0 && c != ':' && c != '.') return false;
    ++end;
  } else {
    constexpr std::string_view marks = "-._~!$&'()*+,;=%";
    for (; end < text.size() && text[end] != ':'; ++end) {
      const char c = text[end];
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!letter && !is_digit(c) && marks.find(c) == std::string_view::npos) return false;
    }
  }
  auto port = text.substr(end);
  if (port.empty()) return true;
  if (port.front() != ':') return false;
  port.remove_prefix(1);
  if (port.size() > 5 || !std::all_of(port.begin(), port.end(), is_digit)) return false;
  int number = 0;
  for (const char c : port) number = number * 10 + (c - '0');
  return number <= 65535;
}

std::optional<target> split_target(std::string_view raw) {
  for (const char c : raw)
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '#') return std::nullopt;
  if (raw == "*") return target{raw, {}};
  std::size_t scheme = 0;
  if (starts_with_nocase(raw, "http://")) scheme = 7;
  if (starts_with_nocase(raw, "https://")) scheme = 8;
  if (scheme != 0) {
    const auto end = raw.find_first_of("/?", scheme);
    if (end == scheme || !is_authority(raw.substr(scheme, end - scheme))) return std::nullopt;
    if (end == std::string_view::npos) return target{"/", {}};
    raw.remove_prefix(end);
    if (raw.front() == '?') return target{"/", raw.substr(1)};
  }
  if (raw.empty() || raw.front() != '/') return std::nullopt;
  const auto q = raw.find('?');
  if (q == std::string_view::npos) return target{raw, {}};
  return target{raw.substr(0, q), raw.substr(q + 1)};
}

bool has_dot_segments(std::string_view path) {
  std::size_t at = 0;
  while (at <= path.size()) {
    auto end = path.find('/', at);
    if (end == std::string_view::npos) end = path.size();
    const auto raw = path.substr(at, end - at);
    // "%2e%2e" is the longest spelling of a dot segment.
    if (!raw.empty() && raw.size() <= 6 && (raw.front() == '.' || raw.front() == '%')) {
      std::string s;
      if (percent_decode(raw, s) && (s == "." || s == "..")) return true;
    }
    at = end + 1;
  }
  return false;
}

std::string take_token(std::string_view query, std::string& rest) {
  std::string token;
  bool found = false;
  rest.clear();
  while (!query.empty()) {
    const auto amp = query.find('&');
    const auto pair = query.substr(0, amp);
    query = amp == std::string_view::npos ? std::string_view() : query.substr(amp + 1);
    const auto eq = pair.find('=');
    std::string name;
    if (form_decode(pair.substr(0, eq), name) && name == "token") {
      if (!found && eq != std::string_view::npos && !form_decode(pair.substr(eq + 1), token)) token.clear();
      found = true;
      continue;
    }
    if (!rest.empty()) rest.push_back('&');
    rest.append(pair);
  }
  return token;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const auto amp = query.find('&');
    const auto pair = query.substr(0, amp);
    query = amp == std::string_view::npos ? std::string_view() : query.substr(amp + 1);
    const auto eq = pair.find('=');
    std::string found, value;
    if (!form_decode(pair.substr(0, eq), found) || found != name) continue;
    if (eq != std::string_view::npos && !form_decode(pair.substr(eq + 1), value))
      return std::string(pair.substr(eq + 1));
    return value;
  }
  return std::nullopt;
}

}  // namespace ry::http::serving

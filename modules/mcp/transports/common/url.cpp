#include "url.hpp"

#include <algorithm>
#include <charconv>
#include <ry/ry.hpp>

namespace mcp_transport {

namespace {

constexpr std::string_view unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
constexpr std::string_view sub_delimiters = "!$&'()*+,;=";
constexpr std::string_view hex_digits = "0123456789ABCDEFabcdef";

bool is_unreserved(char c) {
  return unreserved.find(c) != std::string_view::npos;
}

// Whether the text consists of unreserved characters, sub-delimiters, `extra` characters and complete percent escapes.
bool has_only_allowed(std::string_view text, std::string_view extra) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3 || hex_digits.find(text[i + 1]) == std::string_view::npos ||
          hex_digits.find(text[i + 2]) == std::string_view::npos) {
        return false;
      }
      i += 2;
    } else if (!is_unreserved(c) && sub_delimiters.find(c) == std::string_view::npos &&
               extra.find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::string_view take_until(std::string_view& text, std::string_view delimiters) {
  const auto end = std::min(text.find_first_of(delimiters), text.size());
  const auto out = text.substr(0, end);
  text.remove_prefix(end);
  return out;
}

struct reference_parts {
  std::optional<std::string_view> scheme, authority, query, fragment;
  std::string_view path;
};

// RFC 3986, appendix B.
reference_parts split(std::string_view text) {
  reference_parts out;
  const auto first = text.find_first_of(":/?#");
  if (first != std::string_view::npos && first > 0 && text[first] == ':') {
    out.scheme = text.substr(0, first);
    text.remove_prefix(first + 1);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    out.authority = take_until(text, "/?#");
  }
  out.path = take_until(text, "?#");
  if (text.starts_with('?')) {
    text.remove_prefix(1);
    out.query = take_until(text, "#");
  }
  if (text.starts_with('#')) out.fragment = text.substr(1);
  return out;
}

// RFC 3986 does not allow brackets in a query, but many servers use them (`?tags[]=a`).
bool well_formed(const reference_parts& p) {
  return has_only_allowed(p.path, ":@/") && has_only_allowed(p.query.value_or(""), ":@/?[]") &&
         has_only_allowed(p.fragment.value_or(""), ":@/?[]");
}

bool is_valid_host(std::string_view host) {
  if (host.empty()) return false;
  if (host.front() != '[') return has_only_allowed(host, "") && host.find("%00") == std::string_view::npos;
  return host.size() >= 4 && host.back() == ']' &&
         host.substr(1, host.size() - 2).find_first_not_of("0123456789ABCDEFabcdef:.") == std::string_view::npos;
}

bool is_valid_port(std::string_view digits) {
  std::uint16_t number = 0;
  const auto* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  return digits.empty() || (read.ec == std::errc{} && read.ptr == end && number != 0);
}

// RFC 3986, section 5.2.4.
std::string without_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash before the segment
    const auto segment = take_until(path, "/");
    const bool last = path.empty();
    if (segment == "..") out.erase(std::min(out.rfind('/'), out.size()));
    if (segment == "." || segment == "..") {
      if (last) out += '/';
    } else {
      out.append("/").append(segment);
    }
  }
  return out;
}

std::string_view directory_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view("/") : path.substr(0, slash + 1);
}

}  // namespace

std::uint16_t url_parts::port_number() const noexcept {
  std::uint16_t number = https() ? 443 : 80;
  std::from_chars(port.data(), port.data() + port.size(), number);
  return number;
}

std::string url_parts::origin() const {
  std::string out(scheme);
  out.append("://").append(host);
  if (!port.empty()) out.append(":").append(port);
  return out;
}

std::string url_parts::with_path(std::string_view replacement) const {
  std::string out(scheme);
  out.append("://");
  if (has_userinfo) out.append(userinfo).append("@");
  out.append(host);
  if (!port.empty()) out.append(":").append(port);
  return out.append(replacement);
}

bool url_parts::same_origin(const url_parts& other) const {
  return https() == other.https() && ry::iequals(host, other.host) && port_number() == other.port_number();
}

std::optional<url_parts> parse_url(std::string_view text) {
  const auto split_text = split(text);
  if (!split_text.scheme || !split_text.authority || !well_formed(split_text)) return std::nullopt;
  url_parts out;
  out.scheme = *split_text.scheme;
  if (!ry::iequals(out.scheme, "http") && !ry::iequals(out.scheme, "https")) return std::nullopt;
  std::string_view authority = *split_text.authority;
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    out.has_userinfo = true;
    out.userinfo = authority.substr(0, at);
    authority.remove_prefix(at + 1);
    if (!has_only_allowed(out.userinfo, ":")) return std::nullopt;
  }
  // A colon inside the brackets of an IPv6 address does not start a port.
  const auto after_host = authority.starts_with('[') ? std::min(authority.find(']'), authority.size()) : 0;
  const auto colon = authority.find(':', after_host);
  out.host = authority.substr(0, colon);
  if (colon != std::string_view::npos) out.port = authority.substr(colon + 1);
  if (!is_valid_host(out.host) || !is_valid_port(out.port)) return std::nullopt;
  out.path = split_text.path;
  out.has_query = split_text.query.has_value();
  out.query = split_text.query.value_or("");
  out.has_fragment = split_text.fragment.has_value();
  out.fragment = split_text.fragment.value_or("");
  return out;
}

std::optional<std::string> resolve_url(std::string_view base, std::string_view reference) {
  const auto from = parse_url(base);
  const auto to = split(reference);
  if (!from || !well_formed(to) || reference.starts_with(':')) return std::nullopt;
  std::string out;
  std::string_view path = to.path;
  std::optional<std::string_view> query = to.query;
  std::string merged;
  if (to.scheme || to.authority) {
    out.append(to.scheme.value_or(from->scheme)).append(":");
    if (to.authority) out.append("//").append(*to.authority);
  } else {
    out = from->with_path("");
    if (path.empty()) {
      path = from->path;
      if (!query && from->has_query) query = from->query;
    } else if (path.front() != '/') {
      merged.append(directory_of(from->path)).append(path);
      path = merged;
    }
  }
  if (!path.empty() && path.front() != '/') return std::nullopt;
  // The base path is kept unchanged if the reference has no path.
  out += to.path.empty() ? std::string(path) : without_dot_segments(path);
  if (query) out.append("?").append(*query);
  if (!parse_url(out)) return std::nullopt;
  return out;
}

}  // namespace mcp_transport

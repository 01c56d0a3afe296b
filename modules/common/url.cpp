#include "url.hpp"

#include <algorithm>
#include <ry/cpp/text.hpp>
#include <vector>

// Boost.URL 1.81 is not suitable: its normalize() also decodes reserved characters, so "/a%2Fb" becomes "/a/b".
namespace urls {
namespace {

bool is_unreserved(char c) {
  const char l = ry::lower_ascii(c);
  return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

// Converts escapes to upper case and decodes unreserved characters.
std::string normal_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? ry::hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? ry::hex_value(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
      continue;
    }
    const auto c = static_cast<char>(high * 16 + low);
    if (is_unreserved(c)) {
      out += c;
    } else {
      out += '%';
      out += "0123456789ABCDEF"[high];
      out += "0123456789ABCDEF"[low];
    }
    i += 2;
  }
  return out;
}

// RFC 3986, section 5.2.4, for a path that begins with "/".
std::string without_dot_segments(std::string_view path) {
  std::vector<std::string_view> kept;
  while (!path.empty()) {
    const auto end = std::min(path.find('/', 1), path.size());
    const auto segment = path.substr(1, end - 1);
    path.remove_prefix(end);
    const bool dots = segment == "." || segment == "..";
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (!dots) kept.push_back(segment);
    if (dots && path.empty()) kept.push_back("");
  }
  std::string out;
  for (const auto segment : kept) out.append("/").append(segment);
  return out;
}

}  // namespace

std::string normal(std::string_view text) {
  const auto scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos || text.find_first_of("/?#") < scheme_end) return std::string(text);
  const auto scheme = ry::lower_ascii(std::string(text.substr(0, scheme_end)));
  auto rest = text.substr(scheme_end + 3);
  rest = rest.substr(0, rest.find('#'));
  const auto authority = rest.substr(0, rest.find_first_of("/?"));
  rest.remove_prefix(authority.size());
  const auto path = rest.substr(0, rest.find('?'));
  const auto query = rest.substr(path.size());

  const auto at = authority.rfind('@');
  const auto user = at == std::string_view::npos ? std::string_view() : authority.substr(0, at + 1);
  auto host = authority.substr(user.size());
  std::string_view port;
  const auto colon = host.rfind(':');
  const auto bracket = host.rfind(']');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if ((scheme == "http" && port == "80") || (scheme == "https" && port == "443")) port = {};

  std::string out = scheme + "://";
  out.append(normal_escapes(user)).append(ry::lower_ascii(normal_escapes(host)));
  if (!port.empty()) out.append(":").append(port);
  out.append(path.empty() ? "/" : without_dot_segments(normal_escapes(path)));
  return out.append(normal_escapes(query));
}

}  // namespace urls

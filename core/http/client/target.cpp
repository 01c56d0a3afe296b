#include "core/http/client/target.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>

namespace ry::http {

namespace {

std::variant<target, std::string> from_view(const boost::urls::url_view& u) {
  target t;
  const auto scheme = u.scheme_id();
  if (scheme == boost::urls::scheme::https)
    t.tls = true;
  else if (scheme != boost::urls::scheme::http)
    return "only http and https URLs are allowed";
  if (!u.has_authority() || u.encoded_host().empty()) return "the URL has no host";
  if (u.has_userinfo()) return "the URL must not contain a user name or password";
  const std::string host_text(u.encoded_host());
  auto host = guard::parse_host(host_text);
  if (!host) return "the URL's host is neither a name nor an address";
  t.host = std::move(*host);
  const std::uint16_t standard = t.tls ? 443 : 80;
  t.port = standard;
  if (const auto digits = u.port(); u.has_port() && !digits.empty()) {
    // Boost.URL 1.81 parses port 99999 as 34463.
    const auto* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, t.port);
    if (read.ec != std::errc{} || read.ptr != end || t.port == 0) return "the URL's port is not between 1 and 65535";
  }
  t.authority = host_text;
  if (t.port != standard) t.authority += ":" + std::to_string(t.port);
  t.path = std::string(u.encoded_path());
  if (t.path.empty()) t.path = "/";
  // Boost.URL 1.81 ends the host of "1.2.3.4.example" after the numbers.
  if (t.path.front() != '/') return "the URL's host is neither a name nor an address";
  if (u.has_query()) t.path += "?" + std::string(u.encoded_query());
  return t;
}

}  // namespace

std::variant<target, std::string> parse_target(std::string_view url) {
  if (url.size() > 8192) return "the URL is longer than 8192 characters";
  const auto u = boost::urls::parse_uri(url);
  if (!u) return "the URL is malformed";
  return from_view(*u);
}

std::variant<target, std::string> resolve_location(const target& base, std::string_view location) {
  if (location.size() > 8192) return "the redirect's address is longer than 8192 characters";
  const auto ref = boost::urls::parse_uri_reference(location);
  if (!ref) return "the redirect's address is malformed";
  const std::string base_url = base.url();
  const auto b = boost::urls::parse_uri(base_url);
  if (!b) return "the redirect's base is malformed";
  boost::urls::url out;
  if (!boost::urls::resolve(*b, *ref, out)) return "the redirect's address is malformed";
  return from_view(out);
}

bool same_host(const target& from, const target& to) {
  if (from.host.name != to.host.name) return false;
  if (from.tls == to.tls) return from.port == to.port;
  return !from.tls && from.port == 80 && to.port == 443;
}

}  // namespace ry::http

#include "core/http/client/proxy.hpp"

#include <algorithm>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/text.hpp>
#include <utility>

namespace ry::http {

namespace {

namespace ip = boost::asio::ip;

template <class Number>
std::optional<Number> whole_number(std::string_view text, Number least, Number most) {
  Number n = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, n);
  if (read.ec != std::errc{} || read.ptr != end || n < least || n > most) return std::nullopt;
  return n;
}

bool same_network(const ip::address& a, const ip::address& network, unsigned bits) {
  if (a.is_v4() != network.is_v4()) return false;
  if (a.is_v4())
    return ip::network_v4(a.to_v4(), static_cast<unsigned short>(bits)).canonical() ==
           ip::network_v4(network.to_v4(), static_cast<unsigned short>(bits)).canonical();
  return ip::network_v6(a.to_v6(), static_cast<unsigned short>(bits)).canonical() ==
         ip::network_v6(network.to_v6(), static_cast<unsigned short>(bits)).canonical();
}

}  // namespace

std::string proxy::key() const {
  // The credentials without the scheme, which is always "Basic".
  return authority + '#' + authorization.substr(authorization.rfind(' ') + 1);
}

std::variant<proxy, std::string> parse_proxy(std::string_view text) {
  constexpr const char* malformed = "it must have the form http://[user:password@]host[:port]";
  constexpr std::size_t longest = 8192;
  if (text.size() > longest) return malformed;
  const std::string whole =
      text.find("://") == std::string_view::npos ? "http://" + std::string(text) : std::string(text);
  const auto u = boost::urls::parse_uri(whole);
  if (!u) return malformed;
  if (u->scheme_id() != boost::urls::scheme::http) return "only http:// proxies are supported";
  proxy p;
  if (u->has_userinfo()) {
    const std::string user = u->user(), password = u->password();
    if (user.find(':') != std::string::npos) return "the user name of a proxy must not contain a colon";
    p.authorization = "Basic " + base64_encode(user + ":" + password, base64_alphabet::standard, true);
  }
  boost::urls::url plain(*u);
  plain.remove_userinfo();
  auto to = parse_target(std::string_view(plain.data(), plain.size()));
  if (!std::holds_alternative<target>(to)) return malformed;
  auto& t = std::get<target>(to);
  if (t.path != "/") return "the address of a proxy must not have a path";
  p.port = t.port;
  p.authority = t.host.literal && t.host.literal->is_v6() ? "[" + t.host.name + "]" : t.host.name;
  p.authority += ":" + std::to_string(t.port);
  p.host = std::move(t.host);
  return p;
}

environment_proxies::entry environment_proxies::read(const char* variable, const std::string& text) {
  if (text.empty()) return {};
  auto p = parse_proxy(text);
  if (auto* problem = std::get_if<std::string>(&p))
    return std::string(variable) + " is not a usable proxy: " + *problem;
  return std::move(std::get<proxy>(p));
}

std::optional<environment_proxies::no_proxy_entry> environment_proxies::read_no_proxy_entry(std::string_view text) {
  no_proxy_entry e;
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto host =
        guard::parse_host(text.find(':') == std::string_view::npos ? std::string(text.substr(0, slash))
                                                                   : "[" + std::string(text.substr(0, slash)) + "]");
    if (!host || !host->literal) return std::nullopt;
    const auto bits = whole_number(text.substr(slash + 1), 0u, host->literal->is_v4() ? 32u : 128u);
    if (!bits) return std::nullopt;
    e.network = host->literal;
    e.bits = *bits;
    return e;
  }
  std::string_view name = text;
  // A colon starts a port only if it is the only one or follows a closing bracket: "::1" has no port.
  const auto colon = name.rfind(':');
  const bool bracketed = name.starts_with('[');
  if (colon != std::string_view::npos && (bracketed ? name[colon - 1] == ']' : name.find(':') == colon)) {
    const auto port = whole_number<std::uint16_t>(name.substr(colon + 1), 1, 65535);
    if (!port) return std::nullopt;
    e.port = *port;
    name = name.substr(0, colon);
  }
  if (name == "*") {
    e.name = "*";
    return e;
  }
  if (name.starts_with("*.")) name.remove_prefix(1);
  if (name.starts_with('.')) name.remove_prefix(1);
  const bool is_v6 = !bracketed && name.find(':') != std::string_view::npos;
  const auto host = guard::parse_host(is_v6 ? "[" + std::string(name) + "]" : std::string(name));
  if (!host) return std::nullopt;
  if (host->literal) {
    e.network = host->literal;
    e.bits = host->literal->is_v4() ? 32 : 128;
  } else {
    e.name = host->name;
  }
  return e;
}

environment_proxies::environment_proxies(const variables& from)
    : http_(read("HTTP_PROXY", from.http)), https_(read("HTTPS_PROXY", from.https)) {
  const std::string all = lower_ascii(from.no_proxy);
  constexpr std::string_view between = ", \t";
  for (std::size_t at = all.find_first_not_of(between); at != std::string::npos;) {
    const auto end = std::min(all.find_first_of(between, at), all.size());
    if (auto e = read_no_proxy_entry(std::string_view(all).substr(at, end - at))) except_.push_back(std::move(*e));
    at = all.find_first_not_of(between, end);
  }
}

bool environment_proxies::covers(const no_proxy_entry& e, const target& to) {
  if (e.port != 0 && e.port != to.port) return false;
  if (e.network) return to.host.literal && same_network(*to.host.literal, *e.network, e.bits);
  if (e.name == "*") return true;
  const std::string& host = to.host.name;
  return host == e.name ||
         (host.size() > e.name.size() && host.ends_with(e.name) && host[host.size() - e.name.size() - 1] == '.');
}

std::variant<std::monostate, proxy, std::string> environment_proxies::of(const target& to) const {
  for (const auto& e : except_)
    if (covers(e, to)) return {};
  return to.tls ? https_ : http_;
}

std::vector<std::string> environment_proxies::problems() const {
  std::vector<std::string> out;
  for (const auto* e : {&http_, &https_})
    if (const auto* problem = std::get_if<std::string>(e)) out.push_back(*problem);
  return out;
}

}  // namespace ry::http

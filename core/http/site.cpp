#include "core/http/site.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <ry/cpp/text.hpp>

namespace ry::http::serving {

namespace {

bool is_address(const std::string& host) {
  in_addr v4;
  in6_addr v6;
  return ::inet_pton(AF_INET, host.c_str(), &v4) == 1 || ::inet_pton(AF_INET6, host.c_str(), &v6) == 1;
}

// Browsers omit the default port of the scheme.
std::string_view without_port(std::string_view authority, std::string_view port) {
  return authority.ends_with(port) ? authority.substr(0, authority.size() - port.size()) : authority;
}

struct origin_parts {
  std::string scheme, authority;
};
origin_parts split_origin(std::string_view url) {
  const auto text = lower_ascii(url);
  const auto at = text.find("://");
  if (at == std::string::npos) return {};
  auto authority = std::string_view(text).substr(at + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const auto scheme = text.substr(0, at);
  if (scheme == "http") authority = without_port(authority, ":80");
  if (scheme == "https") authority = without_port(authority, ":443");
  return {scheme, std::string(authority)};
}

std::string plain_origin(std::string_view url) {
  const auto parts = split_origin(url);
  return parts.scheme.empty() ? lower_ascii(url) : parts.scheme + "://" + parts.authority;
}

}  // namespace

site::site(const site_settings& s, std::vector<std::string> cors_origins)
    : checked_(s.check == site_settings::checks::on) {
  if (!s.public_url.empty()) {
    hosts_.push_back(host_of(s.public_url));
    origins_.push_back(plain_origin(s.public_url));
  }
  for (const auto& h : s.hosts) {
    if (h == "*")
      any_host_ = true;
    else if (h.starts_with("*."))
      domains_.push_back(lower_ascii(h.substr(1)));
    else
      hosts_.push_back(host_of(h));
  }
  for (const auto& o : cors_origins) {
    any_origin_ = any_origin_ || o == "*";
    origins_.push_back(plain_origin(o));
  }
}

bool site::is_own_host(std::string_view given) const {
  if (any_host_ || given.empty()) return true;
  const auto host = host_of(given);
  if (host.empty() || host == "localhost" || host.ends_with(".localhost") || is_address(host)) return true;
  if (std::find(hosts_.begin(), hosts_.end(), host) != hosts_.end()) return true;
  return std::any_of(domains_.begin(), domains_.end(),
                     [&](const auto& d) { return host.size() > d.size() && host.ends_with(d); });
}

bool site::may_change(std::string_view origin, std::string_view host, std::string_view fetch_site) const {
  if (origin.empty() || any_origin_) return true;
  const auto plain = plain_origin(origin);
  if (std::find(origins_.begin(), origins_.end(), plain) != origins_.end()) return true;
  // A form on a page with Referrer-Policy: no-referrer is sent with the origin "null".
  if (plain == "null") return fetch_site == "same-origin";
  const auto from = split_origin(origin);
  if (from.authority.empty()) return false;
  const auto own = lower_ascii(host);
  // The scheme is not compared: behind a TLS proxy the server itself speaks HTTP.
  return from.authority == without_port(own, from.scheme == "https" ? ":443" : ":80");
}

std::string host_of(std::string_view text) {
  if (const auto scheme = text.find("://"); scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
  text = text.substr(0, text.find_first_of("/?#"));
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    const bool closed = end != std::string_view::npos && (end + 1 == text.size() || text[end + 1] == ':');
    if (!closed) return lower_ascii(text);
    text = text.substr(1, end - 1);
    return lower_ascii(text.substr(0, text.find('%')));  // removes the IPv6 zone
  }
  text = text.substr(0, text.find(':'));
  if (text.ends_with('.')) text.remove_suffix(1);
  return lower_ascii(text);
}

std::string_view authority_of(std::string_view target) {
  const auto scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return {};
  target.remove_prefix(scheme + 3);
  return target.substr(0, target.find_first_of("/?"));
}

bool changes_something(std::string_view method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

}  // namespace ry::http::serving

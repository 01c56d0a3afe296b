// Checks the Host and Origin of requests against CSRF and DNS rebinding. A page of another origin must not change data
// through the browser of a user who can reach the server. With DNS rebinding, the page's own host name resolves to this
// machine, and only the Host header reveals it.
//
// Immutable after construction. [any]
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ry::http {

struct site_settings {
  enum class checks { off, on } check = checks::off;
  // everyone: also checks requests from trusted proxies and requests to host routes.
  enum class scope { clients, everyone } applies_to = scope::clients;
  std::string public_url;  // "https://runs.example.org/base", or empty
  std::vector<std::string> hosts;  // "name", "*.example.org" for its subdomains, "*" for any
};

namespace serving {

class site {
 public:
  site() = default;
  site(const site_settings& s, std::vector<std::string> cors_origins);

  bool is_checked() const noexcept { return checked_; }
  // True if `host` (a Host header) is an address, localhost, the host of public_url or a configured name. An empty one
  // is allowed, because browsers always send a Host.
  bool is_own_host(std::string_view host) const;
  // True if a page of `origin` may send a change. `host` and `fetch_site` are the request's Host and Sec-Fetch-Site;
  // the latter decides for the origin "null".
  bool may_change(std::string_view origin, std::string_view host, std::string_view fetch_site) const;

 private:
  bool checked_ = false, any_host_ = false, any_origin_ = false;
  std::vector<std::string> hosts_, domains_;  // in lower case; domains with their leading dot
  std::vector<std::string> origins_;
};

// The host part of "https://Example.org:8443/x" or "example.org:80", in lower case, without port and IPv6 brackets.
std::string host_of(std::string_view url_or_authority);
// The authority of a request target in absolute form; empty for "/path" and "*".
std::string_view authority_of(std::string_view target);
// False for GET, HEAD and OPTIONS.
bool changes_something(std::string_view method);

}  // namespace serving
}  // namespace ry::http

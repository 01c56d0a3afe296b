// Under which names a server is reached, and which web pages may change something on it. Keeps a page of
// another origin from acting through the browser of someone who can reach the server, also by DNS rebinding: the
// page's own name is then made to point to this machine, so that only the Host header tells.
//
// Immutable after construction. [any]
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ry::http {

struct site_settings {
  enum class checks { off, on } check = checks::off;
  // Requests by a trusted proxy and of the host's own routes are checked too.
  enum class scope { clients, everyone } whom = scope::clients;
  std::string public_url;          // "https://runs.example.org/base", or empty
  std::vector<std::string> hosts;  // names; "*.example.org" for all below it, "*" for any
};

namespace serving {

class site {
 public:
  site() = default;
  site(const site_settings& s, std::vector<std::string> cors_origins);

  bool is_checked() const noexcept { return checked_; }
  // An address, localhost, the host of public_url, or one of the settings. `host`: as the header has it, with or
  // without a port. Empty: no browser sends that.
  bool is_own_host(std::string_view host) const;
  // The origin of a request that changes something. `host`: of the same request. `fetch_site`: its
  // Sec-Fetch-Site, which tells where a request with the origin "null" comes from.
  bool may_change(std::string_view origin, std::string_view host, std::string_view fetch_site) const;

 private:
  bool checked_ = false, any_host_ = false, any_origin_ = false;
  std::vector<std::string> hosts_, domains_;  // small letters; domains with their leading dot
  std::vector<std::string> origins_;
};

// The host part of "https://Example.org:8443/x" or of "example.org:80", in small letters; without port and the
// brackets of IPv6.
std::string host_of(std::string_view url_or_authority);
// The authority of an absolute target; empty for "/path" and "*".
std::string_view authority_of(std::string_view target);
// GET, HEAD and OPTIONS change nothing.
bool changes_something(std::string_view method);

}  // namespace serving
}  // namespace ry::http

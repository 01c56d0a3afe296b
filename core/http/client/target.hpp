// The target of an outgoing request, parsed from its URL. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/http/client/guard.hpp"

namespace ry::http {

struct target {
  bool tls = false;
  guard::host host;
  std::uint16_t port = 0;
  std::string authority;  // value of the Host header: as in the URL, without a default port
  std::string path;  // origin form: path and query

  std::string url() const { return (tls ? "https://" : "http://") + authority + path; }
};

// Parses an absolute http or https URL. The string alternative is an error message; it never contains the URL.
std::variant<target, std::string> parse_target(std::string_view url);

// Resolves a Location header relative to `base`.
std::variant<target, std::string> resolve_location(const target& base, std::string_view location);

// True if a redirect from `from` to `to` may be followed: the same host, and the same port or an upgrade from http to
// https on their default ports.
bool same_host(const target& from, const target& to);

}  // namespace ry::http

// Where a request goes, taken from its URL. Pure.
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
  std::string authority;  // value of the Host header: as in the URL, the default port left out
  std::string path;       // origin form: path and query

  std::string url() const { return (tls ? "https://" : "http://") + authority + path; }
};

// Reads an absolute http or https URL. The alternative is a sentence saying what is wrong with it;
// it never repeats the URL.
std::variant<target, std::string> parse_target(std::string_view url);

// Reads a Location header relative to `base`.
std::variant<target, std::string> resolve_location(const target& base, std::string_view location);

// May a redirect from `from` to `to` be followed: the same host, and the same port or the step from
// plain http to https on their default ports.
bool same_host(const target& from, const target& to);

}  // namespace ry::http

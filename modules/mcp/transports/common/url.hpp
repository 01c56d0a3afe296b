// Splits http and https URLs (RFC 3986) and leaves their text unchanged: OAuth compares and sends URLs exactly as they
// were written. It does not use Boost.URL: a module must not share a C++ library with the host, and Debian's static
// libboost_url.a is not position-independent. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcp_transport {

// Views into the text that parse_url() read.
struct url_parts {
  std::string_view scheme, userinfo, host, port, path, query, fragment;
  bool has_userinfo = false, has_query = false, has_fragment = false;

  bool https() const noexcept { return scheme.size() == 5; }
  std::uint16_t port_number() const noexcept;  // the default port of the scheme if none is given
  std::string origin() const;  // scheme, host and port as written
  std::string with_path(
      std::string_view path) const;  // of that origin, with user information, without query and fragment
  bool same_origin(const url_parts& other) const;  // RFC 6454
};

// An absolute http or https URL with a host. nullopt for any other text, including text with a character that RFC 3986
// requires to be encoded, and text with port 0 or a port above 65535.
std::optional<url_parts> parse_url(std::string_view text);

// `reference` resolved against `base` (RFC 3986, section 5.2), without its fragment; nullopt if either is malformed or
// the result is not an http or https URL.
std::optional<std::string> resolve_url(std::string_view base, std::string_view reference);

}  // namespace mcp_transport

// http and https URLs as RFC 3986 splits them, without a change to their text: what OAuth compares and sends has to stay
// as it was written. Not Boost.URL: Debian has it as a shared C++ library only, which a module must not share with the
// host. Pure.
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
  std::uint16_t port_number() const noexcept;      // the scheme's own when none is given
  std::string origin() const;                      // scheme, host and port as they were written
  std::string with_path(std::string_view) const;   // of that origin, with user information, without query and fragment
  bool same_origin(const url_parts& other) const;  // RFC 6454
};

// An absolute http or https URL with a host; nullopt for any other text, also one with a character that RFC 3986 has
// encoded, or a port beyond 65535.
std::optional<url_parts> parse_url(std::string_view text);

// `reference` resolved against `base` (RFC 3986, section 5.2), without its fragment; nullopt when either is malformed or the
// result is no http or https URL.
std::optional<std::string> resolve_url(std::string_view base, std::string_view reference);

// One value of a query or a form: all but unreserved characters encoded.
std::string percent_encoded(std::string_view value);

}  // namespace mcp_transport

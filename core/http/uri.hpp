// Parses request targets, percent-encoding and URL-encoded pairs. Pure functions. [any]
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ry::http::serving {

// Appends the decoded text. False, with `out` in an unspecified state, for an invalid or truncated escape, %00 or a
// raw NUL.
bool percent_decode(std::string_view in, std::string& out);
// Like percent_decode(), but decodes '+' as a space.
bool form_decode(std::string_view in, std::string& out);

struct target {
  std::string_view path;  // begins with '/', or is "*" for OPTIONS
  std::string_view query;
};
// True for a valid Host header: a name or an address, with an optional port. It may be empty.
bool is_authority(std::string_view text);
// Splits origin-form and absolute-form (drops its authority). nullopt for any other form, a fragment, a user name
// or invalid bytes.
std::optional<target> split_target(std::string_view raw);

// True when a decoded segment of the path is "." or "..".
bool has_dot_segments(std::string_view path);

// Writes the query without its `token` parameters to `rest`. Returns the decoded value of the first; empty when there
// is none or its encoding is invalid.
std::string take_token(std::string_view query, std::string& rest);

// The decoded first parameter with this name; nullopt when there is none. A value whose encoding is invalid is returned
// as it was sent, so that it is refused like any other invalid value.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace ry::http::serving

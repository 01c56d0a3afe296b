// Request targets, percent-encoding and urlencoded pairs. Pure functions. [any]
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ry::http::serving {

// Appends the decoded text. False, with `out` in an unspecified state, for a broken or cut escape
// and for %00 and a raw NUL.
bool percent_decode(std::string_view in, std::string& out);
// The same where '+' stands for a space.
bool form_decode(std::string_view in, std::string& out);

struct target {
  std::string_view path;  // begins with '/', or is "*" for OPTIONS
  std::string_view query;
};
// True for what a Host header may hold: a name or an address, and perhaps a port. It may be empty.
bool is_authority(std::string_view text);
// Splits origin-form and absolute-form (its authority is dropped). nullopt: neither, or a fragment,
// or a user name, or bytes that no target may hold.
std::optional<target> split_target(std::string_view raw);

// True when a decoded segment of the path is "." or "..".
bool has_dot_segments(std::string_view path);

// Removes every `token` parameter. Returns the first one's decoded value; empty when there is none
// or it is badly encoded.
std::string take_token(std::string_view query, std::string& rest);

// The first parameter of that name, decoded; nullopt when there is none or it is badly encoded.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace ry::http::serving

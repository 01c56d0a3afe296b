// Checks the names and values of HTTP headers that users configure (RFC 9110, 5.1 and 5.5), by the rules of the host's HTTP
// client. Pure functions.
#pragma once

#include <algorithm>
#include <string_view>

namespace header_field {

inline bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != 0 && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
  });
}

inline bool is_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
}

// The reason why the HTTP client would refuse the header, to follow its name in a message; empty if there is none.
inline std::string_view problem(std::string_view name, std::string_view value) {
  if (!is_name(name)) return "is not a valid header name";
  if (!is_value(value)) return "must not contain control characters";
  return {};
}

}  // namespace header_field

// Helpers for error messages of core/module. Names come from untrusted files.
#pragma once

#include <string>
#include <string_view>

namespace ry::module {

// Quotes the text, truncated to 100 bytes, without control characters.
inline std::string in_quotes(std::string_view s) {
  std::string out = "\"";
  for (const char c : s.substr(0, 100))
    out += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f ? '?' : c;
  return out + '"';
}

}  // namespace ry::module

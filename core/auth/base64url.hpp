// Base64url without padding (RFC 4648 section 5), as JOSE uses it: strict in both directions.
#pragma once

#include <optional>
#include <ry/cpp/base64.hpp>
#include <string>
#include <string_view>

namespace ry::auth {

// [any]
inline std::string base64url_encode(std::string_view bytes) {
  return base64_encode(bytes, base64_alphabet::url, false);
}
// nullopt for padding, white space, foreign characters, an impossible length and non-zero trailing bits: every byte
// string has exactly one accepted spelling. [any]
inline std::optional<std::string> base64url_decode(std::string_view text) {
  return base64_decode(text, base64_alphabet::url, base64_padding::none);
}

}  // namespace ry::auth

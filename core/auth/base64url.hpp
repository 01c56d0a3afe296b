// Base64url without padding (RFC 4648 section 5), as JOSE uses it: strict in both directions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ry::auth {

// [any]
std::string base64url_encode(std::string_view bytes);
// nullopt for padding, white space, foreign characters, an impossible length and non-zero left-over
// bits: every byte string has exactly one accepted spelling. [any]
std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace ry::auth

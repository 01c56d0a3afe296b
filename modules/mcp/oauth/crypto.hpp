// Random texts, hashes and signatures as OAuth spells them. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace mcp::oauth {

std::string base64(std::string_view bytes);     // with padding
std::string base64url(std::string_view bytes);  // without

std::string random_text();  // 256 bits, base64url
std::string sha256(std::string_view text);  // 32 bytes

// A private key in PEM: the JWS algorithm that goes with it ("RS256", "ES256", "EdDSA"); empty when it is no
// key, or one of another kind.
std::string algorithm_of(std::string_view private_key_pem);
// A compact JWS over these JSON texts. Throws ry::error RY_INVALID_ARGUMENT when the key is not usable.
std::string signed_jwt(std::string_view header_json, std::string_view claims_json,
                       std::string_view private_key_pem);

}  // namespace mcp::oauth

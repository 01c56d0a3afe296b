// Random strings, hashes and signatures in the encodings that OAuth uses. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace mcp::oauth {

std::string base64(std::string_view bytes);  // with padding
std::string base64url(std::string_view bytes);  // without padding

std::string random_text();  // 256 bits, base64url
std::string sha256(std::string_view text);  // 32 bytes

// The JWS algorithm for a private key in PEM ("RS256", "ES256", "EdDSA"); empty if the text is not a key or its type is
// unsupported.
std::string algorithm_of(std::string_view private_key_pem);
// A compact JWS over these JSON texts. Throws ry::error RY_INVALID_ARGUMENT if the key is not usable.
std::string signed_jwt(std::string_view header_json, std::string_view claims_json, std::string_view private_key_pem);

}  // namespace mcp::oauth

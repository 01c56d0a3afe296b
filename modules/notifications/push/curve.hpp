// Keys, key agreement and signatures on the curve P-256, HMAC-SHA256 and AES-128-GCM, by OpenSSL. Every function takes
// and returns bytes, is [any], and throws ry::error: RY_INVALID_ARGUMENT for bytes that are not a key, RY_INTERNAL if
// OpenSSL fails.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>

namespace notify_push {

struct key_deleter {
  void operator()(EVP_PKEY* k) const noexcept { EVP_PKEY_free(k); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, key_deleter>;

key_ptr make_key();
key_ptr private_key_of(std::string_view scalar);  // 32 bytes
key_ptr public_key_of(std::string_view point);  // 65 bytes, uncompressed
std::string scalar_of(EVP_PKEY* key);
std::string point_of(EVP_PKEY* key);

std::string derive_secret(EVP_PKEY* own, EVP_PKEY* peer);  // ECDH: 32 bytes
std::string sign_es256(EVP_PKEY* key, std::string_view s);  // returns r and s: 64 bytes
std::string hmac_sha256(std::string_view key, std::string_view s);
std::string encrypt_aes128gcm(std::string_view key, std::string_view nonce,
                              std::string_view plain);  // the result ends with the tag
std::string random_bytes(std::size_t n);

std::string to_base64url(std::string_view bytes);  // without padding
std::string from_base64url(std::string_view text);  // either alphabet, with or without padding; empty if invalid

}  // namespace notify_push

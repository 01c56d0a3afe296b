// Signature algorithms of JOSE (RFC 7518, RFC 8037) and the keys that verify them. No state, no I/O; every function is
// [any].
#pragma once

#include <openssl/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ry::auth {

enum class algorithm {
  hs256,
  hs384,
  hs512,
  rs256,
  rs384,
  rs512,
  ps256,
  ps384,
  ps512,
  es256,
  es384,
  es512,
  eddsa,
};

// By the names of RFC 7518, RFC 8037 and RFC 9864 ("Ed25519", "Ed448"). nullopt: not supported, "none" among them.
std::optional<algorithm> algorithm_by_name(std::string_view name) noexcept;
// True for the algorithms of shared secrets.
bool is_hmac(algorithm a) noexcept;

// A shared secret or a public key. A key verifies only the algorithms of its own kind, and only one of them if it was
// restricted to it.
class verification_key {
 public:
  static verification_key from_secret(std::string_view secret);
  // Big-endian numbers. nullopt: not an RSA key of 2048 to 8192 bits.
  static std::optional<verification_key> from_rsa(std::string_view n, std::string_view e);
  // `curve` is "P-256", "P-384" or "P-521". nullopt: not a point of that curve.
  static std::optional<verification_key> from_ec(std::string_view curve, std::string_view x, std::string_view y);
  // `curve` is "Ed25519" or "Ed448".
  static std::optional<verification_key> from_edwards(std::string_view curve, std::string_view x);
  // The public key of a certificate. Its validity is not checked, because trust comes from the key set that contains
  // it.
  static std::optional<verification_key> from_certificate_der(std::string_view der);
  static std::optional<verification_key> from_certificate_pem(std::string_view pem);

  bool accepts(algorithm a) const noexcept;
  // Accepts this algorithm only. False: the key is of another kind.
  bool restrict_to(algorithm a) noexcept;
  // False for an algorithm that the key does not accept.
  bool verify(algorithm a, std::string_view signing_input, std::string_view signature) const;

 private:
  enum class kind { secret, rsa, p256, p384, p521, edwards };
  verification_key() = default;
  static std::optional<verification_key> from_public_key(std::shared_ptr<EVP_PKEY> key);

  kind kind_ = kind::secret;
  std::optional<algorithm> only_;
  std::string secret_;
  std::shared_ptr<EVP_PKEY> key_;
};

std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace ry::auth

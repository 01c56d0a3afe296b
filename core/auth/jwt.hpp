// JSON Web Tokens in compact form: taking apart, signatures, claims. No state, no I/O; every
// function is [any]. Refusals carry a literal for the log.
#pragma once

#include <openssl/types.h>

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/auth/principal.hpp"

namespace ry::auth {

enum class algorithm { hs256, rs256, es256 };

// A token taken apart; nothing in it has been verified.
struct unverified_token {
  algorithm alg = algorithm::hs256;
  std::string kid;                 // may be empty
  std::string typ;                 // may be empty
  std::string_view signing_input;  // borrows the text that was parsed
  std::string signature;
  std::string payload;            // JSON text
  const char* refused = nullptr;  // set: why it is no acceptable token; all else is meaningless
};

// True for three segments that begin like a JSON object; API keys and opaque tokens are not.
bool looks_like_jwt(std::string_view text) noexcept;
// Refuses unknown algorithms ("none" among them), critical extensions and any sloppy encoding.
unverified_token parse_token(std::string_view text, std::size_t max_bytes);

// A public key of a key set (RSA for RS256, P-256 for ES256) or a secret (HS256): a key has one
// algorithm, and checks signatures of that algorithm only.
class verification_key {
 public:
  static verification_key from_secret(std::string_view secret);
  // Modulus and exponent, big-endian. nullopt: not an RSA key of 2048 to 8192 bits.
  static std::optional<verification_key> from_rsa(std::string_view n, std::string_view e);
  // Coordinates of 32 bytes each. nullopt: not a point of the curve P-256.
  static std::optional<verification_key> from_p256(std::string_view x, std::string_view y);

  algorithm alg() const noexcept { return alg_; }
  // False also when the token's algorithm is not the key's own.
  bool verify(const unverified_token& token) const;

 private:
  verification_key() = default;
  algorithm alg_ = algorithm::hs256;
  std::string secret_;
  std::shared_ptr<EVP_PKEY> key_;
};

// Signs claims with HS256. `typ` stands in the header.
std::string sign_hs256(std::string_view secret, std::string_view typ,
                       const boost::json::object& claims);

// What the claims of a token must fulfil.
struct claim_rules {
  std::string issuer;                  // empty: any
  std::vector<std::string> audiences;  // empty: any; else one of them must be named
  std::int64_t leeway_s = 30;
};

struct checked_claims {
  principal who;
  boost::json::object claims;
  const char* refused = nullptr;
};

// Checks exp (which is required), nbf, iss, aud and sub, and reads email and role.
// The role is the highest of `role`, `roles` (array or one name) and `app_metadata.role` that is
// "admin" or "super_admin"; everything else means user. `user_metadata` is never looked at:
// identity providers let users edit it.
checked_claims check_claims(std::string_view payload, const claim_rules& rules,
                            std::int64_t now_unix_us);

// The claim "sid"; empty if it is missing, not a string, or has an invalid length.
std::string session_of(const boost::json::object& claims);

}  // namespace ry::auth

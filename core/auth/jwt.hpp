// JSON Web Tokens in compact form: parsing, signatures, claims. No state, no I/O; every function is [any]. Rejections
// carry a string literal for the log.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/auth/principal.hpp"
#include "core/auth/role_rules.hpp"
#include "core/auth/verification_key.hpp"

namespace ry::auth {

// A parsed token; nothing in it has been verified.
struct unverified_token {
  algorithm alg = algorithm::hs256;
  std::string kid;  // may be empty
  std::string typ;  // may be empty
  std::string_view signing_input;  // borrows the text that was parsed
  std::string signature;
  std::string payload;  // JSON text
  const char* refused = nullptr;  // set: why the token is not acceptable; the other members are then undefined
};

// True for three segments that begin like a JSON object; API keys and opaque tokens are not.
bool looks_like_jwt(std::string_view text) noexcept;
// Refuses unknown algorithms (including "none"), critical extensions and non-canonical encodings.
unverified_token parse_token(std::string_view text, std::size_t max_bytes);
// Whether the key has signed this token.
bool verify(const verification_key& key, const unverified_token& token);

// Signs claims with HS256. `typ` is written to the header.
std::string sign_hs256(std::string_view secret, std::string_view typ, const boost::json::object& claims);

// The requirements for the claims of a token, and how they are read.
struct claim_rules {
  std::string issuer;  // empty: any
  std::vector<std::string> audiences;  // empty: any; else one of them must be named
  std::int64_t leeway_s = 30;
  role_rules roles;
  std::string subject_prefix;  // prepended to `sub` to form the subject
};

struct checked_claims {
  principal who;
  boost::json::object claims;
  const char* refused = nullptr;
};

// Checks exp (which is required), nbf, iss, aud and sub, and reads email, iat and the role. A token without `aud` names
// its audience by `client_id` (access tokens of Amazon Cognito). `user_metadata` is ignored: identity providers
// let users edit it.
checked_claims check_claims(std::string_view payload, const claim_rules& rules, std::int64_t now_unix_us);

// The claim "iss" of a token that is not verified yet; empty if there is none.
std::string unverified_issuer(const unverified_token& token);
// A NumericDate in microseconds; nullopt: not a number, or out of range.
std::optional<std::int64_t> numeric_date_us(const boost::json::value& v);

// The claim "sid"; empty if it is missing, not a string, too long or not printable.
std::string session_of(const boost::json::object& claims);

}  // namespace ry::auth

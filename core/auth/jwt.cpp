#include "core/auth/jwt.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cctype>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <limits>

#include "core/auth/base64url.hpp"

namespace ry::auth {
namespace {

namespace json = boost::json;

template <auto Free>
struct freer {
  template <class T>
  void operator()(T* p) const noexcept {
    Free(p);
  }
};
using bignum = std::unique_ptr<BIGNUM, freer<BN_free>>;
using ecdsa_sig = std::unique_ptr<ECDSA_SIG, freer<ECDSA_SIG_free>>;
using md_ctx = std::unique_ptr<EVP_MD_CTX, freer<EVP_MD_CTX_free>>;
using param_bld = std::unique_ptr<OSSL_PARAM_BLD, freer<OSSL_PARAM_BLD_free>>;
using params = std::unique_ptr<OSSL_PARAM, freer<OSSL_PARAM_free>>;
using pkey_ctx = std::unique_ptr<EVP_PKEY_CTX, freer<EVP_PKEY_CTX_free>>;

const unsigned char* octets(std::string_view s) {
  return reinterpret_cast<const unsigned char*>(s.data());
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::string mac(SHA256_DIGEST_LENGTH, '\0');
  unsigned int len = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), octets(text), text.size(),
       reinterpret_cast<unsigned char*>(mac.data()), &len);
  return mac;
}

std::shared_ptr<EVP_PKEY> public_key(const char* type, OSSL_PARAM_BLD* bld) {
  const params p(OSSL_PARAM_BLD_to_param(bld));
  const pkey_ctx ctx(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!p || !ctx || EVP_PKEY_fromdata_init(ctx.get()) <= 0 ||
      EVP_PKEY_fromdata(ctx.get(), &key, EVP_PKEY_PUBLIC_KEY, p.get()) <= 0) {
    return nullptr;
  }
  std::shared_ptr<EVP_PKEY> owned(key, EVP_PKEY_free);
  const pkey_ctx check(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  if (!check || EVP_PKEY_public_check(check.get()) != 1) return nullptr;
  return owned;
}

// The raw r||s of JOSE in the DER form that OpenSSL reads.
std::string ecdsa_der(std::string_view raw) {
  bignum r(BN_bin2bn(octets(raw), 32, nullptr));
  bignum s(BN_bin2bn(octets(raw) + 32, 32, nullptr));
  const ecdsa_sig sig(ECDSA_SIG_new());
  if (!r || !s || !sig || ECDSA_SIG_set0(sig.get(), r.get(), s.get()) != 1) return {};
  (void)r.release();
  (void)s.release();
  const int len = i2d_ECDSA_SIG(sig.get(), nullptr);
  if (len <= 0) return {};
  std::string der(static_cast<std::size_t>(len), '\0');
  auto* p = reinterpret_cast<unsigned char*>(der.data());
  i2d_ECDSA_SIG(sig.get(), &p);
  return der;
}

std::optional<json::object> parse_object(std::string_view text) {
  json::error_code ec;
  auto v = json::parse(json::string_view(text.data(), text.size()), ec);
  if (ec || !v.is_object()) return std::nullopt;
  return std::move(v.get_object());
}

std::string_view string_member(const json::object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  if (!v || !v->is_string()) return {};
  return {v->get_string().data(), v->get_string().size()};
}

// A UUID has many spellings and is one subject.
std::string normal_subject(std::string subject) {
  if (subject.size() != 36) return subject;
  for (std::size_t i = 0; i < subject.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? subject[i] != '-' : !std::isxdigit(static_cast<unsigned char>(subject[i])))
      return subject;
  }
  for (char& ch : subject)
    if (ch >= 'A' && ch <= 'F') ch = static_cast<char>(ch - 'A' + 'a');
  return subject;
}

bool has_control(std::string_view s) {
  return std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// A NumericDate in microseconds; nullopt: no number, or out of all reason.
std::optional<std::int64_t> numeric_date_us(const json::value& v) {
  double seconds = 0;
  if (v.is_int64()) {
    seconds = static_cast<double>(v.get_int64());
  } else if (v.is_uint64()) {
    seconds = static_cast<double>(v.get_uint64());
  } else if (v.is_double()) {
    seconds = v.get_double();
  } else {
    return std::nullopt;
  }
  constexpr double year_9999 = 253402300799.0;
  if (!std::isfinite(seconds) || seconds < 0 || seconds > year_9999) return std::nullopt;
  return static_cast<std::int64_t>(seconds * 1e6);
}

role role_by_name(std::string_view name) {
  if (name == "super_admin") return role::super_admin;
  if (name == "admin") return role::admin;
  return role::user;
}

role role_of(const json::object& claims) {
  auto best = role_by_name(string_member(claims, "role"));
  best = std::max(best, role_by_name(string_member(claims, "roles")));
  if (const auto* roles = claims.if_contains("roles"); roles && roles->is_array()) {
    for (const auto& r : roles->get_array()) {
      if (r.is_string())
        best = std::max(best, role_by_name({r.get_string().data(), r.get_string().size()}));
    }
  }
  if (const auto* app = claims.if_contains("app_metadata"); app && app->is_object()) {
    best = std::max(best, role_by_name(string_member(app->get_object(), "role")));
  }
  return best;
}

bool names_audience(const json::object& claims, const std::vector<std::string>& wanted) {
  const auto is_wanted = [&](const json::value& v) {
    return v.is_string() && std::find(wanted.begin(), wanted.end(),
                                      std::string_view(v.get_string().data(),
                                                       v.get_string().size())) != wanted.end();
  };
  const auto* aud = claims.if_contains("aud");
  if (!aud) return false;
  if (aud->is_array()) {
    const auto& all = aud->get_array();
    return std::any_of(all.begin(), all.end(), is_wanted);
  }
  return is_wanted(*aud);
}

unverified_token refused(const char* why) {
  unverified_token t;
  t.refused = why;
  return t;
}

}  // namespace

std::string_view to_string(role r) noexcept {
  switch (r) {
    case role::super_admin:
      return "super_admin";
    case role::admin:
      return "admin";
    case role::user:
      break;
  }
  return "user";
}

bool looks_like_jwt(std::string_view text) noexcept {
  return !text.empty() && text.front() == 'e' && std::count(text.begin(), text.end(), '.') == 2;
}

unverified_token parse_token(std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes) return refused("token too long");
  const auto first = text.find('.');
  if (first == text.npos) return refused("not three segments");
  const auto second = text.find('.', first + 1);
  if (second == text.npos || text.find('.', second + 1) != text.npos) {
    return refused("not three segments");
  }

  const auto header_text = base64url_decode(text.substr(0, first));
  auto payload = base64url_decode(text.substr(first + 1, second - first - 1));
  auto signature = base64url_decode(text.substr(second + 1));
  if (!header_text || !payload || !signature) return refused("not base64url");
  const auto header = parse_object(*header_text);
  if (!header) return refused("header is not a JSON object");
  if (header->contains("crit")) return refused("critical header extensions are not supported");

  unverified_token t;
  const auto alg = string_member(*header, "alg");
  if (alg == "HS256") {
    t.alg = algorithm::hs256;
  } else if (alg == "RS256") {
    t.alg = algorithm::rs256;
  } else if (alg == "ES256") {
    t.alg = algorithm::es256;
  } else {
    return refused("algorithm is not HS256, RS256 or ES256");
  }
  t.kid = string_member(*header, "kid");
  t.typ = string_member(*header, "typ");
  t.signing_input = text.substr(0, second);
  t.signature = *std::move(signature);
  t.payload = *std::move(payload);
  return t;
}

verification_key verification_key::from_secret(std::string_view secret) {
  verification_key k;
  k.alg_ = algorithm::hs256;
  k.secret_ = secret;
  return k;
}

std::optional<verification_key> verification_key::from_rsa(std::string_view n, std::string_view e) {
  if (n.empty() || n.size() > 1025 || e.empty() || e.size() > 8) return std::nullopt;
  const bignum bn(BN_bin2bn(octets(n), static_cast<int>(n.size()), nullptr));
  const bignum be(BN_bin2bn(octets(e), static_cast<int>(e.size()), nullptr));
  const param_bld bld(OSSL_PARAM_BLD_new());
  if (!bn || !be || !bld || BN_num_bits(bn.get()) < 2048 || BN_num_bits(bn.get()) > 8192 ||
      !BN_is_odd(be.get()) || BN_is_one(be.get())) {
    return std::nullopt;
  }
  if (!OSSL_PARAM_BLD_push_BN(bld.get(), OSSL_PKEY_PARAM_RSA_N, bn.get()) ||
      !OSSL_PARAM_BLD_push_BN(bld.get(), OSSL_PKEY_PARAM_RSA_E, be.get())) {
    return std::nullopt;
  }
  verification_key k;
  k.alg_ = algorithm::rs256;
  k.key_ = public_key("RSA", bld.get());
  if (!k.key_) return std::nullopt;
  return k;
}

std::optional<verification_key> verification_key::from_p256(std::string_view x,
                                                            std::string_view y) {
  if (x.size() != 32 || y.size() != 32) return std::nullopt;
  std::string point("\x04", 1);
  point.append(x).append(y);
  const param_bld bld(OSSL_PARAM_BLD_new());
  if (!bld ||
      !OSSL_PARAM_BLD_push_utf8_string(bld.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) ||
      !OSSL_PARAM_BLD_push_octet_string(bld.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                        point.size())) {
    return std::nullopt;
  }
  verification_key k;
  k.alg_ = algorithm::es256;
  k.key_ = public_key("EC", bld.get());
  if (!k.key_) return std::nullopt;
  return k;
}

bool verification_key::verify(const unverified_token& token) const {
  if (token.refused || token.alg != alg_) return false;
  if (alg_ == algorithm::hs256) {
    const auto mac = hmac_sha256(secret_, token.signing_input);
    return token.signature.size() == mac.size() &&
           CRYPTO_memcmp(mac.data(), token.signature.data(), mac.size()) == 0;
  }
  std::string signature = token.signature;
  if (alg_ == algorithm::es256) {
    if (signature.size() != 64) return false;
    signature = ecdsa_der(signature);
    if (signature.empty()) return false;
  }
  const md_ctx ctx(EVP_MD_CTX_new());
  return ctx && EVP_DigestVerifyInit(ctx.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
         EVP_DigestVerify(ctx.get(), octets(signature), signature.size(),
                          octets(token.signing_input), token.signing_input.size()) == 1;
}

std::string sign_hs256(std::string_view secret, std::string_view typ, const json::object& claims) {
  json::object header;
  header["alg"] = "HS256";
  header["typ"] = json::string_view(typ.data(), typ.size());
  std::string token = base64url_encode(json::serialize(header));
  token.push_back('.');
  token += base64url_encode(json::serialize(claims));
  const auto mac = hmac_sha256(secret, token);
  token.push_back('.');
  token += base64url_encode(mac);
  return token;
}

checked_claims check_claims(std::string_view payload, const claim_rules& rules,
                            std::int64_t now_unix_us) {
  checked_claims c;
  auto claims = parse_object(payload);
  if (!claims) {
    c.refused = "claims are not a JSON object";
    return c;
  }
  const auto leeway_us = rules.leeway_s * 1'000'000;
  const auto* exp = claims->if_contains("exp");
  const auto expires = exp ? numeric_date_us(*exp) : std::nullopt;
  if (!expires) {
    c.refused = "exp is missing or not a date";
    return c;
  }
  if (*expires + leeway_us <= now_unix_us) {
    c.refused = "expired";
    return c;
  }
  if (const auto* nbf = claims->if_contains("nbf")) {
    const auto from = numeric_date_us(*nbf);
    if (!from || *from - leeway_us > now_unix_us) {
      c.refused = "not valid yet";
      return c;
    }
  }
  if (!rules.issuer.empty() && string_member(*claims, "iss") != rules.issuer) {
    c.refused = "another issuer";
    return c;
  }
  if (!rules.audiences.empty() && !names_audience(*claims, rules.audiences)) {
    c.refused = "another audience";
    return c;
  }
  const auto subject = string_member(*claims, "sub");
  if (subject.empty() || subject.size() > 255 || has_control(subject)) {
    c.refused = "sub is missing, too long or not printable";
    return c;
  }
  c.who.subject = normal_subject(std::string(subject));
  c.who.issuer = string_member(*claims, "iss");
  if (const auto email = string_member(*claims, "email");
      email.size() <= 320 && !has_control(email)) {
    c.who.email = email;
  }
  c.who.role = role_of(*claims);
  c.who.auth_kind = "jwt";
  c.who.claims_json = payload;
  c.who.expires_unix_us = *expires;
  c.claims = *std::move(claims);
  return c;
}

std::string session_of(const json::object& claims) {
  auto sid = string_member(claims, "sid");
  return sid.size() <= 255 ? std::string(sid) : std::string();
}

}  // namespace ry::auth

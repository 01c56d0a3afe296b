#include "core/auth/verification_key.hpp"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <array>

#include "core/auth/octets.hpp"

namespace ry::auth {
namespace {

template <auto Free>
struct freer {
  template <class T>
  void operator()(T* p) const noexcept {
    Free(p);
  }
};
using bignum = std::unique_ptr<BIGNUM, freer<BN_free>>;
using bio = std::unique_ptr<BIO, freer<BIO_free_all>>;
using certificate = std::unique_ptr<X509, freer<X509_free>>;
using ecdsa_sig = std::unique_ptr<ECDSA_SIG, freer<ECDSA_SIG_free>>;
using md_ctx = std::unique_ptr<EVP_MD_CTX, freer<EVP_MD_CTX_free>>;
using param_bld = std::unique_ptr<OSSL_PARAM_BLD, freer<OSSL_PARAM_BLD_free>>;
using params = std::unique_ptr<OSSL_PARAM, freer<OSSL_PARAM_free>>;
using pkey_ctx = std::unique_ptr<EVP_PKEY_CTX, freer<EVP_PKEY_CTX_free>>;
using shared_pkey = std::shared_ptr<EVP_PKEY>;

constexpr std::size_t max_certificate = 64 * 1024;

struct named_algorithm {
  std::string_view name;
  algorithm value;
};
constexpr std::array names{named_algorithm{"HS256", algorithm::hs256}, named_algorithm{"HS384", algorithm::hs384},
                           named_algorithm{"HS512", algorithm::hs512}, named_algorithm{"RS256", algorithm::rs256},
                           named_algorithm{"RS384", algorithm::rs384}, named_algorithm{"RS512", algorithm::rs512},
                           named_algorithm{"PS256", algorithm::ps256}, named_algorithm{"PS384", algorithm::ps384},
                           named_algorithm{"PS512", algorithm::ps512}, named_algorithm{"ES256", algorithm::es256},
                           named_algorithm{"ES384", algorithm::es384}, named_algorithm{"ES512", algorithm::es512},
                           named_algorithm{"EdDSA", algorithm::eddsa}, named_algorithm{"Ed25519", algorithm::eddsa},
                           named_algorithm{"Ed448", algorithm::eddsa}};

struct curve {
  std::string_view jose;
  const char* openssl;
  std::size_t bytes;  // of a coordinate
};
constexpr std::array curves{curve{"P-256", "prime256v1", 32}, curve{"P-384", "secp384r1", 48},
                            curve{"P-521", "secp521r1", 66}};

// nullptr: the algorithm includes its hash.
const EVP_MD* digest_of(algorithm a) {
  switch (a) {
    case algorithm::hs256:
    case algorithm::rs256:
    case algorithm::ps256:
    case algorithm::es256:
      return EVP_sha256();
    case algorithm::hs384:
    case algorithm::rs384:
    case algorithm::ps384:
    case algorithm::es384:
      return EVP_sha384();
    case algorithm::hs512:
    case algorithm::rs512:
    case algorithm::ps512:
    case algorithm::es512:
      return EVP_sha512();
    case algorithm::eddsa:
      break;
  }
  return nullptr;
}

bool is_pss(algorithm a) {
  return a == algorithm::ps256 || a == algorithm::ps384 || a == algorithm::ps512;
}

bool is_rsa(algorithm a) {
  return a == algorithm::rs256 || a == algorithm::rs384 || a == algorithm::rs512 || is_pss(a);
}

std::string hmac(const EVP_MD* md, std::string_view key, std::string_view text) {
  std::string mac(EVP_MAX_MD_SIZE, '\0');
  unsigned int len = 0;
  HMAC(md, key.data(), static_cast<int>(key.size()), octets(text), text.size(),
       reinterpret_cast<unsigned char*>(mac.data()), &len);
  mac.resize(len);
  return mac;
}

shared_pkey public_key(const char* type, OSSL_PARAM_BLD* bld) {
  const params p(OSSL_PARAM_BLD_to_param(bld));
  const pkey_ctx ctx(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!p || !ctx || EVP_PKEY_fromdata_init(ctx.get()) <= 0 ||
      EVP_PKEY_fromdata(ctx.get(), &key, EVP_PKEY_PUBLIC_KEY, p.get()) <= 0) {
    return nullptr;
  }
  return {key, EVP_PKEY_free};
}

bool is_valid(EVP_PKEY* key) {
  const pkey_ctx check(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  return check && EVP_PKEY_public_check(check.get()) == 1;
}

bool has_good_exponent(EVP_PKEY* key) {
  BIGNUM* e = nullptr;
  if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &e) != 1) return false;
  const bignum owned(e);
  return BN_is_odd(e) && !BN_is_one(e) && BN_num_bits(e) <= 64;
}

// The raw r||s of JOSE in the DER form that OpenSSL reads.
std::string ecdsa_der(std::string_view raw) {
  const auto half = raw.size() / 2;
  bignum r(BN_bin2bn(octets(raw), static_cast<int>(half), nullptr));
  bignum s(BN_bin2bn(octets(raw) + half, static_cast<int>(half), nullptr));
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

shared_pkey key_of(X509* cert) {
  return cert ? shared_pkey(X509_get_pubkey(cert), EVP_PKEY_free) : nullptr;
}

}  // namespace

std::optional<algorithm> algorithm_by_name(std::string_view name) noexcept {
  for (const auto& each : names)
    if (each.name == name) return each.value;
  return std::nullopt;
}

bool is_hmac(algorithm a) noexcept {
  return a == algorithm::hs256 || a == algorithm::hs384 || a == algorithm::hs512;
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  return hmac(EVP_sha256(), key, text);
}

verification_key verification_key::from_secret(std::string_view secret) {
  verification_key k;
  k.secret_ = secret;
  return k;
}

std::optional<verification_key> verification_key::from_public_key(shared_pkey key) {
  if (!key) return std::nullopt;
  verification_key k;
  const int bits = EVP_PKEY_get_bits(key.get());
  std::array<char, 64> group{};
  if (EVP_PKEY_is_a(key.get(), "RSA")) {
    k.kind_ = kind::rsa;
    if (bits < 2048 || bits > 8192 || !has_good_exponent(key.get())) return std::nullopt;
  } else if (EVP_PKEY_is_a(key.get(), "ED25519") || EVP_PKEY_is_a(key.get(), "ED448")) {
    k.kind_ = kind::edwards;
  } else if (EVP_PKEY_get_utf8_string_param(key.get(), OSSL_PKEY_PARAM_GROUP_NAME, group.data(), group.size(),
                                            nullptr) == 1) {
    const std::string_view name(group.data());
    if (name == curves[0].openssl) {
      k.kind_ = kind::p256;
    } else if (name == curves[1].openssl) {
      k.kind_ = kind::p384;
    } else if (name == curves[2].openssl) {
      k.kind_ = kind::p521;
    } else {
      return std::nullopt;
    }
  } else {
    return std::nullopt;
  }
  if (!is_valid(key.get())) return std::nullopt;
  k.key_ = std::move(key);
  return k;
}

std::optional<verification_key> verification_key::from_rsa(std::string_view n, std::string_view e) {
  if (n.empty() || n.size() > 1025 || e.empty() || e.size() > 8) return std::nullopt;
  const bignum bn(BN_bin2bn(octets(n), static_cast<int>(n.size()), nullptr));
  const bignum be(BN_bin2bn(octets(e), static_cast<int>(e.size()), nullptr));
  const param_bld bld(OSSL_PARAM_BLD_new());
  if (!bn || !be || !bld || !OSSL_PARAM_BLD_push_BN(bld.get(), OSSL_PKEY_PARAM_RSA_N, bn.get()) ||
      !OSSL_PARAM_BLD_push_BN(bld.get(), OSSL_PKEY_PARAM_RSA_E, be.get())) {
    return std::nullopt;
  }
  return from_public_key(public_key("RSA", bld.get()));
}

std::optional<verification_key> verification_key::from_ec(std::string_view name, std::string_view x,
                                                          std::string_view y) {
  for (const auto& c : curves) {
    if (c.jose != name) continue;
    if (x.size() != c.bytes || y.size() != c.bytes) return std::nullopt;
    std::string point("\x04", 1);
    point.append(x).append(y);
    const param_bld bld(OSSL_PARAM_BLD_new());
    if (!bld || !OSSL_PARAM_BLD_push_utf8_string(bld.get(), OSSL_PKEY_PARAM_GROUP_NAME, c.openssl, 0) ||
        !OSSL_PARAM_BLD_push_octet_string(bld.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size())) {
      return std::nullopt;
    }
    return from_public_key(public_key("EC", bld.get()));
  }
  return std::nullopt;
}

std::optional<verification_key> verification_key::from_edwards(std::string_view name, std::string_view x) {
  if (name != "Ed25519" && name != "Ed448") return std::nullopt;
  const char* type = name == "Ed25519" ? "ED25519" : "ED448";
  return from_public_key({EVP_PKEY_new_raw_public_key_ex(nullptr, type, nullptr, octets(x), x.size()), EVP_PKEY_free});
}

std::optional<verification_key> verification_key::from_certificate_der(std::string_view der) {
  if (der.size() > max_certificate) return std::nullopt;
  const auto* at = octets(der);
  const certificate cert(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  return from_public_key(key_of(cert.get()));
}

std::optional<verification_key> verification_key::from_certificate_pem(std::string_view pem) {
  if (pem.size() > max_certificate) return std::nullopt;
  const bio in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!in) return std::nullopt;
  const certificate cert(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
  return from_public_key(key_of(cert.get()));
}

bool verification_key::accepts(algorithm a) const noexcept {
  if (only_) return *only_ == a;
  switch (kind_) {
    case kind::secret:
      return is_hmac(a);
    case kind::rsa:
      return is_rsa(a);
    case kind::p256:
      return a == algorithm::es256;
    case kind::p384:
      return a == algorithm::es384;
    case kind::p521:
      return a == algorithm::es512;
    case kind::edwards:
      return a == algorithm::eddsa;
  }
  return false;
}

bool verification_key::restrict_to(algorithm a) noexcept {
  if (!accepts(a)) return false;
  only_ = a;
  return true;
}

bool verification_key::verify(algorithm a, std::string_view signing_input, std::string_view signature) const {
  if (!accepts(a)) return false;
  if (kind_ == kind::secret) {
    const auto mac = hmac(digest_of(a), secret_, signing_input);
    return signature.size() == mac.size() && CRYPTO_memcmp(mac.data(), signature.data(), mac.size()) == 0;
  }
  std::string der;
  if (kind_ == kind::p256 || kind_ == kind::p384 || kind_ == kind::p521) {
    const auto& c = curves[kind_ == kind::p256 ? 0 : kind_ == kind::p384 ? 1 : 2];
    if (signature.size() != 2 * c.bytes) return false;
    der = ecdsa_der(signature);
    if (der.empty()) return false;
    signature = der;
  }
  const md_ctx ctx(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;  // belongs to ctx
  if (!ctx || EVP_DigestVerifyInit(ctx.get(), &of_key, digest_of(a), nullptr, key_.get()) != 1) return false;
  if (is_pss(a) && (EVP_PKEY_CTX_set_rsa_padding(of_key, RSA_PKCS1_PSS_PADDING) <= 0 ||
                    EVP_PKEY_CTX_set_rsa_pss_saltlen(of_key, RSA_PSS_SALTLEN_DIGEST) <= 0)) {
    return false;
  }
  return EVP_DigestVerify(ctx.get(), octets(signature), signature.size(), octets(signing_input),
                          signing_input.size()) == 1;
}

}  // namespace ry::auth

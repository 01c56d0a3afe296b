// Key pairs for the tests of core/auth.
#pragma once

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <string>

#include "core/auth/base64url.hpp"
#include "core/auth/jwt.hpp"

namespace ry::auth::test {

class rsa_key {
 public:
  rsa_key() : key_(EVP_RSA_gen(2048), EVP_PKEY_free) {}

  verification_key public_part() const {
    return *verification_key::from_rsa(number(OSSL_PKEY_PARAM_RSA_N), number(OSSL_PKEY_PARAM_RSA_E));
  }
  boost::json::object jwk(const std::string& kid) const {
    return {{"kty", "RSA"},
            {"kid", kid},
            {"use", "sig"},
            {"alg", "RS256"},
            {"n", base64url_encode(number(OSSL_PKEY_PARAM_RSA_N))},
            {"e", base64url_encode(number(OSSL_PKEY_PARAM_RSA_E))}};
  }
  std::string jwks(const std::string& kid) const {
    boost::json::array keys;
    keys.push_back(jwk(kid));
    return boost::json::serialize(boost::json::object{{"keys", std::move(keys)}});
  }
  // A compact token; an empty kid is omitted.
  std::string sign(const std::string& kid, const std::string& payload) const {
    boost::json::object header{{"alg", "RS256"}};
    if (!kid.empty()) header["kid"] = kid;
    auto text = base64url_encode(boost::json::serialize(header)) + "." + base64url_encode(payload);
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> ctx(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    std::size_t n = 0;
    const auto* in = reinterpret_cast<const unsigned char*>(text.data());
    EVP_DigestSignInit(ctx.get(), nullptr, EVP_sha256(), nullptr, key_.get());
    EVP_DigestSign(ctx.get(), nullptr, &n, in, text.size());
    std::string signature(n, '\0');
    EVP_DigestSign(ctx.get(), reinterpret_cast<unsigned char*>(signature.data()), &n, in, text.size());
    signature.resize(n);
    return text + "." + base64url_encode(signature);
  }

 private:
  std::string number(const char* name) const {
    BIGNUM* bn = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &bn);
    std::string out(static_cast<std::size_t>(BN_num_bytes(bn)), '\0');
    BN_bn2bin(bn, reinterpret_cast<unsigned char*>(out.data()));
    BN_free(bn);
    return out;
  }
  std::shared_ptr<EVP_PKEY> key_;
};

}  // namespace ry::auth::test

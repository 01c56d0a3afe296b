#include "core/auth/verification_key.hpp"

#include <gtest/gtest.h>

#include "core/auth/base64url.hpp"
#include "core/auth/jwks.hpp"
#include "core/auth/jwt.hpp"
#include "core/auth/test_keys.hpp"

using namespace ry::auth;

TEST(verification_key, eddsa_matches_the_example_of_rfc_8037) {
  // RFC 8037 appendix A.4.
  const std::string input = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
  const auto signature =
      *base64url_decode("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
  const auto key =
      verification_key::from_edwards("Ed25519", *base64url_decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"));
  ASSERT_TRUE(key);
  EXPECT_TRUE(key->verify(algorithm::eddsa, input, signature));
  EXPECT_FALSE(key->verify(algorithm::eddsa, input + "x", signature));
  EXPECT_FALSE(key->verify(algorithm::es256, input, signature));
  EXPECT_FALSE(verification_key::from_edwards("X25519", std::string(32, 'a')));
  EXPECT_FALSE(verification_key::from_edwards("Ed25519", "short"));
}

TEST(verification_key, parses_algorithm_names) {
  EXPECT_EQ(algorithm_by_name("EdDSA"), algorithm::eddsa);
  EXPECT_EQ(algorithm_by_name("Ed25519"), algorithm::eddsa);
  for (const char* none : {"", "none", "None", "rs256", "ES256K", "RSA-OAEP", "HS1"})
    EXPECT_FALSE(algorithm_by_name(none)) << none;
}

TEST(verification_key, a_key_accepts_the_algorithms_of_its_kind) {
  auto rsa = test::rsa_key().public_part();
  for (const auto a : {algorithm::rs256, algorithm::rs512, algorithm::ps256, algorithm::ps384})
    EXPECT_TRUE(rsa.accepts(a));
  for (const auto a : {algorithm::hs256, algorithm::es256, algorithm::eddsa}) EXPECT_FALSE(rsa.accepts(a));
  EXPECT_FALSE(rsa.restrict_to(algorithm::es256));
  EXPECT_TRUE(rsa.restrict_to(algorithm::ps256));
  EXPECT_TRUE(rsa.accepts(algorithm::ps256));
  EXPECT_FALSE(rsa.accepts(algorithm::rs256));
  EXPECT_FALSE(verification_key::from_secret("s").accepts(algorithm::rs256));
}

TEST(verification_key, malformed_keys_are_refused) {
  EXPECT_FALSE(verification_key::from_certificate_der("x"));
  EXPECT_FALSE(verification_key::from_certificate_der(""));
  EXPECT_FALSE(
      verification_key::from_certificate_pem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
  EXPECT_FALSE(verification_key::from_ec("P-384", std::string(48, '\1'), std::string(48, '\1')))
      << "not a point on the curve";
  EXPECT_FALSE(verification_key::from_ec("secp256k1", std::string(32, '\1'), std::string(32, '\1')));
  EXPECT_FALSE(verification_key::from_rsa(std::string(128, '\xff'), "\1\0\1")) << "1024 bits";
}

TEST(verification_key, a_key_set_without_a_usable_key_names_its_kinds) {
  std::string why;
  EXPECT_FALSE(
      parse_jwks(R"({"keys":[{"kty":"EC","crv":"secp256k1","alg":"ES256K","x":"AA"},{"kty":"oct","k":"AA"}]})", &why));
  EXPECT_NE(why.find("ES256K, oct"), std::string::npos) << why;
}

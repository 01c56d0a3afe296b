#include "core/auth/jwt.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "core/auth/base64url.hpp"
#include "core/auth/jwks.hpp"
#include "core/auth/test_keys.hpp"

using namespace ry::auth;
namespace json = boost::json;

namespace {

constexpr std::size_t limit = 8192;
constexpr std::int64_t now = 1'700'000'000'000'000;

const char* refusal_of(std::string_view text) {
  const auto t = parse_token(text, limit);
  return t.refused ? t.refused : "";
}

const char* claims_refusal(std::string payload, const claim_rules& rules = {}) {
  const auto c = check_claims(payload, rules, now);
  return c.refused ? c.refused : "";
}

std::string joined(std::string_view header, std::string_view payload, std::string_view signature) {
  return base64url_encode(header) + "." + base64url_encode(payload) + "." + base64url_encode(signature);
}

}  // namespace

TEST(base64url, is_strict_and_unambiguous) {
  for (const std::string s : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    EXPECT_EQ(base64url_decode(base64url_encode(s)), s);
  }
  std::string all(256, '\0');
  for (int i = 0; i < 256; ++i) all[static_cast<std::size_t>(i)] = static_cast<char>(i);
  EXPECT_EQ(base64url_decode(base64url_encode(all)), all);
  EXPECT_EQ(base64url_encode("\xfb\xff"), "-_8");
  for (const char* bad : {"Zg==", "Z", "Zh", "+/8", "Zg ", " Zg", "Zm9v\n", "-_9", "Zg\xc3\xa4"}) {
    EXPECT_FALSE(base64url_decode(bad)) << bad;
  }
  EXPECT_FALSE(base64url_decode(std::string_view("Zg\0", 3)));
}

TEST(jwt, hs256_matches_the_example_of_rfc_7515) {
  // RFC 7515 appendix A.1.
  const std::string text =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
      "fQ."
      "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  const auto secret =
      *base64url_decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
  const auto token = parse_token(text, limit);
  ASSERT_FALSE(token.refused) << token.refused;
  EXPECT_TRUE(verify(verification_key::from_secret(secret), token));
  EXPECT_FALSE(verify(verification_key::from_secret(secret + "x"), token));
  EXPECT_FALSE(verify(verification_key::from_secret(""), token));
}

TEST(jwt, es256_matches_the_example_of_rfc_7515) {
  // RFC 7515 appendix A.3: raw r||s.
  const std::string text =
      "eyJhbGciOiJFUzI1NiJ9."
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
      "fQ."
      "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
  const auto key = verification_key::from_ec("P-256", *base64url_decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
                                             *base64url_decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"));
  ASSERT_TRUE(key);
  const auto token = parse_token(text, limit);
  ASSERT_FALSE(token.refused);
  EXPECT_TRUE(verify(*key, token));
  auto changed = token;
  changed.signature[10] = static_cast<char>(changed.signature[10] ^ 1);
  EXPECT_FALSE(verify(*key, changed));
  for (const std::size_t n : {0u, 1u, 63u, 65u, 128u}) {
    changed.signature.assign(n, '\x30');
    EXPECT_FALSE(verify(*key, changed)) << n;
  }
  changed.signature.assign(64, '\0');
  EXPECT_FALSE(verify(*key, changed));
}

TEST(jwt, rs256_verifies_a_signature_made_with_its_private_key) {
  const test::rsa_key key;
  const auto text = key.sign("k1", R"({"sub":"a"})");
  const auto token = parse_token(text, limit);
  ASSERT_FALSE(token.refused) << token.refused;
  EXPECT_TRUE(verify(key.public_part(), token));
  EXPECT_FALSE(verify(test::rsa_key().public_part(), token));
  auto changed = token;
  changed.signature.back() = static_cast<char>(changed.signature.back() ^ 1);
  EXPECT_FALSE(verify(key.public_part(), changed));
}

TEST(jwt, a_key_verifies_only_its_own_algorithm) {
  const test::rsa_key rsa;
  const auto n = rsa.jwk("k");
  // The classic confusion: an HMAC made with the public key's text.
  json::object claims{{"sub", "a"}};
  const auto forged = sign_hs256(json::serialize(n), "JWT", claims);
  const auto token = parse_token(forged, limit);
  ASSERT_FALSE(token.refused);
  EXPECT_FALSE(verify(rsa.public_part(), token));
  key_set keys;
  keys.keys.push_back({"", rsa.public_part()});
  EXPECT_EQ(check_signature(keys, token), signature_check::unknown_key);
}

TEST(jwt, rejects_malformed_and_hostile_tokens) {
  const std::string good = R"({"alg":"HS256"})";
  EXPECT_STREQ(refusal_of(joined(good, "{}", "x")), "");
  EXPECT_STRNE(refusal_of(joined(R"({"alg":"none"})", "{}", "")), "");
  EXPECT_STRNE(refusal_of(joined(R"({"alg":"None"})", "{}", "")), "");
  EXPECT_STRNE(refusal_of(joined(R"({"alg":["HS256"]})", "{}", "x")), "");
  EXPECT_STRNE(refusal_of(joined(R"({"alg":"ES256K"})", "{}", "x")), "");
  EXPECT_STRNE(refusal_of(joined(R"({"alg":"RSA-OAEP"})", "{}", "x")), "");
  EXPECT_STRNE(refusal_of(joined(R"({})", "{}", "x")), "");
  EXPECT_STRNE(refusal_of(joined(R"([])", "{}", "x")), "");
  EXPECT_STRNE(refusal_of(joined(R"({"alg":"HS256","crit":["b64"],"b64":false})", "{}", "x")), "");
  EXPECT_STRNE(refusal_of(joined("{\"alg\":\"HS256\",\"x\":\"\xff\"}", "{}", "x")), "");
  EXPECT_STRNE(refusal_of(joined(good, "{}", "x") + "."), "");
  EXPECT_STRNE(refusal_of(joined(good, "{}", "x") + "="), "");
  EXPECT_STRNE(refusal_of(joined(good, std::string(limit, 'x'), "x")), "");
  EXPECT_STRNE(refusal_of(joined(good + std::string(5000, '['), "{}", "x")), "");
  for (const char* text : {"", ".", "..", "...", "a.b", "e30.e30", "e30.e30.e30.e30"}) {
    EXPECT_STRNE(refusal_of(text), "") << text;
  }
  EXPECT_TRUE(looks_like_jwt(joined(good, "{}", "x")));
  EXPECT_FALSE(looks_like_jwt("ry_0123_abcdef"));
  EXPECT_FALSE(looks_like_jwt(""));
}

TEST(claims, times_are_checked) {
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1700000001})"), "");
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1699999971})"), "");  // inside the leeway
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1699999970})"), "expired");
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1700000001.5})"), "");
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1700000001,"nbf":1700000030})"), "");
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1700000099,"nbf":1700000031})"), "not valid yet");
  EXPECT_STRNE(claims_refusal(R"({"sub":"a","exp":1700000099,"nbf":"0"})"), "");
  EXPECT_STRNE(claims_refusal(R"({"sub":"a"})"), "");
  for (const char* bad : {"\"1800000000\"", "null", "true", "-1", "1e300", "{}", "[1800000000]", "9223372036854775807",
                          "18446744073709551615"}) {
    EXPECT_STRNE(claims_refusal(std::string(R"({"sub":"a","exp":)") + bad + "}"), "") << bad;
  }
}

TEST(claims, issuer_and_audience_are_checked) {
  const claim_rules rules{"https://id", {"api", "web"}, 30};
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1800000000,"iss":"https://id","aud":"web"})", rules), "");
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1800000000,"iss":"https://id","aud":["x","api"]})", rules), "");
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1800000000,"iss":"https://id"})", rules), "another audience");
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1800000000,"iss":"https://id","aud":["x",1]})", rules),
               "another audience");
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1800000000,"iss":"https://id/","aud":"web"})", rules),
               "another issuer");
  EXPECT_STREQ(claims_refusal(R"({"sub":"a","exp":1800000000,"aud":"web"})", rules), "another issuer");
}

TEST(claims, subject_and_email_are_read) {
  for (const char* bad : {R"("")", "null", "7", R"("a\u0000b")", R"("a\nb")"}) {
    EXPECT_STRNE(claims_refusal(std::string(R"({"exp":1800000000,"sub":)") + bad + "}"), "") << bad;
  }
  EXPECT_STRNE(claims_refusal(R"({"exp":1800000000,"sub":")" + std::string(256, 'a') + "\"}"), "");
  const auto c = check_claims(R"({"exp":1800000000,"sub":"a","email":"a@b\n","iss":"i"})", {}, now);
  EXPECT_EQ(c.who.email, "");
  EXPECT_EQ(c.who.issuer, "i");
  EXPECT_EQ(c.who.auth_kind, "jwt");
  EXPECT_EQ(c.who.expires_unix_us, 1'800'000'000'000'000);
}

TEST(claims, all_spellings_of_a_uuid_are_one_subject) {
  const auto subject = [](const std::string& text) {
    return check_claims(R"({"exp":1800000000,"sub":")" + text + "\"}", {}, now).who.subject;
  };
  EXPECT_EQ(subject("0192F0C1-2D3E-7F00-8A1B-0123456789AB"), "0192f0c1-2d3e-7f00-8a1b-0123456789ab");
  EXPECT_EQ(subject("auth0|ABCDEF"), "auth0|ABCDEF");
  EXPECT_EQ(subject("0192F0C1-2D3E-7F00-8A1B-0123456789AG"), "0192F0C1-2D3E-7F00-8A1B-0123456789AG");
}

TEST(claims, roles_are_read) {
  const auto role_in = [](const std::string& rest) {
    const auto c = check_claims(R"({"exp":1800000000,"sub":"a")" + rest + "}", {}, now);
    EXPECT_FALSE(c.refused);
    return c.who.role;
  };
  EXPECT_EQ(role_in(""), role::user);
  EXPECT_EQ(role_in(R"(,"role":"admin")"), role::admin);
  EXPECT_EQ(role_in(R"(,"role":"authenticated","app_metadata":{"role":"super_admin"})"), role::super_admin);
  EXPECT_EQ(role_in(R"(,"roles":["user","admin"])"), role::admin);
  EXPECT_EQ(role_in(R"(,"roles":"admin")"), role::admin);
  EXPECT_EQ(role_in(R"(,"role":"Admin")"), role::user);
  EXPECT_EQ(role_in(R"(,"role":2,"roles":[2,null,{}],"app_metadata":"admin")"), role::user);
  EXPECT_EQ(role_in(R"(,"user_metadata":{"role":"super_admin"})"), role::user);
}

TEST(jwks, keeps_usable_keys_and_skips_the_rest) {
  const test::rsa_key rsa;
  auto usable = rsa.jwk("r1");
  auto for_encryption = rsa.jwk("r2");
  for_encryption["use"] = "enc";
  auto other_alg = rsa.jwk("r3");
  other_alg["alg"] = "RSA-OAEP-256";
  auto signing_only = rsa.jwk("r4");
  signing_only["key_ops"] = json::array{"sign"};
  const json::object symmetric{{"kty", "oct"}, {"kid", "s"}, {"k", "AAAA"}};
  const json::object off_curve{{"kty", "EC"},
                               {"crv", "P-256"},
                               {"kid", "e"},
                               {"x", base64url_encode(std::string(32, '\1'))},
                               {"y", base64url_encode(std::string(32, '\2'))}};
  const json::object small{{"kty", "RSA"}, {"kid", "w"}, {"n", "gQAB"}, {"e", "AQAB"}};
  const json::object doc{
      {"keys", json::array{usable, for_encryption, other_alg, signing_only, symmetric, off_curve, small, 7, nullptr}}};
  std::string why;
  const auto set = parse_jwks(json::serialize(doc), &why);
  ASSERT_TRUE(set) << why;
  ASSERT_EQ(set->keys.size(), 1u);
  EXPECT_EQ(set->keys[0].kid, "r1");

  const auto text = rsa.sign("r1", "{}");
  EXPECT_EQ(check_signature(*set, parse_token(text, limit)), signature_check::valid);
  EXPECT_EQ(check_signature(*set, parse_token(rsa.sign("", "{}"), limit)), signature_check::valid);
  EXPECT_EQ(check_signature(*set, parse_token(rsa.sign("r9", "{}"), limit)), signature_check::unknown_key);

  for (const char* bad : {"", "[]", "{}", R"({"keys":{}})", R"({"keys":[]})", "\xff"}) {
    why.clear();
    EXPECT_FALSE(parse_jwks(bad, &why)) << bad;
    EXPECT_NE(why, "");
  }
}

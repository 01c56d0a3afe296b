// Key sets of identity providers: an accepted set is a small list of public keys, and no unsigned data is accepted.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>

#include "check.hpp"
#include "core/auth/base64url.hpp"
#include "core/auth/jwks.hpp"

namespace {

using namespace ry::auth;
namespace json = boost::json;

unverified_token forged(std::string_view alg, std::string_view kid, std::string_view signature) {
  const json::object header{{"alg", alg}, {"kid", kid}};
  static std::string text;  // referenced by the returned token
  text = base64url_encode(json::serialize(header)) + "." + base64url_encode(R"({"sub":"a"})") + "." +
         base64url_encode(signature);
  return parse_token(text, 1 << 20);
}

bool same_kind(const verification_key& a, const verification_key& b) {
  for (const auto* alg : {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"})
    if (a.accepts(*algorithm_by_name(alg)) != b.accepts(*algorithm_by_name(alg))) return false;
  return true;
}

bool same_keys(const key_set& a, const key_set& b) {
  return std::equal(a.keys.begin(), a.keys.end(), b.keys.begin(), b.keys.end(),
                    [](const auto& x, const auto& y) { return x.kid == y.kid && same_kind(x.key, y.key); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::view(data, size);
  std::string error;
  const auto set = parse_jwks(input, &error);
  fuzz::check((set == nullptr) == !error.empty(), "parse_jwks() returns a key set or an error message");
  if (!set) return 0;
  fuzz::check(!set->keys.empty() && set->keys.size() <= 64, "a key set has 1 to 64 keys");
  for (const auto& [kid, key] : set->keys) {
    fuzz::check(!key.accepts(algorithm::hs256) && !key.accepts(algorithm::hs384) && !key.accepts(algorithm::hs512),
                "no key of a set is accepted as an HMAC secret");
    for (const auto* alg : {"RS256", "PS512", "ES256", "ES384", "ES512", "EdDSA"}) {
      if (!key.accepts(*algorithm_by_name(alg))) continue;
      for (const auto& signature :
           {std::string(), std::string(64, '\0'), std::string(64, '\1'), std::string(256, '\2')})
        fuzz::check(check_signature(*set, forged(alg, kid, signature)) != signature_check::valid,
                    "a forged signature is invalid");
    }
    fuzz::check(check_signature(*set, forged("HS256", kid, std::string(32, '\0'))) == signature_check::unknown_key,
                "a public key is not accepted as an HS256 secret");
  }
  // OpenSSL tests an RSA modulus with random bases: a modulus with a small factor is sometimes rejected and sometimes
  // accepted. Only a persistent difference is caused by the formatting of the JSON.
  const auto other = json::serialize(json::parse(input));
  bool same = false;
  for (int i = 0; i < 200 && !same; ++i) {
    const auto once = parse_jwks(input, &error), again = parse_jwks(other, &error);
    same = once && again ? same_keys(*once, *again) : !once && !again;
  }
  fuzz::check(same, "the formatting of the JSON does not matter");
  return 0;
}

// JSON Web Tokens: parsing, headers and claims. A signature is valid only for the signed bytes, a token has exactly one
// encoding, and no principal has a role that the issuer's claims do not grant.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <string>

#include "check.hpp"
#include "core/auth/base64url.hpp"
#include "core/auth/jwks.hpp"
#include "core/auth/jwt.hpp"

namespace {

using namespace ry::auth;
namespace json = boost::json;

constexpr std::size_t max_token = 8192;
constexpr std::int64_t now_us = 1'800'000'000'000'000;
constexpr std::string_view secret = "a secret of this fuzzer, which signs nothing";
// The private keys no longer exist: they have signed only the first payload. The secret has signed both payloads.
constexpr std::string_view signed_payload =
    R"({"iss":"https://issuer.example","aud":"runyard","sub":"8b3c6e1e-0d0f-4f6a-9b55-0a4d1f1f0001",)"
    R"("email":"a@example.com","exp":4102444800,"role":"user"})";
constexpr std::string_view payload_of_secret = R"({"sub":"a"})";
constexpr const char* rsa_modulus =
    "29yTUoTkkJy12_HajJ9WkMMpeKlISmwAOsWEjVX5Cy8fzYvwfZlHsi4DxIHv2LmtkiqWKAsYixEWnT-SZseKuuTXXkJgDhbP-E8NC-aUMTQ3_vPu-"
    "jkVfAkqsjtJ9QaPY5pBAK4F0uC4ZSv4XgsaOwJYxFLwvhyrXpo03D0nwGYMOuA2QCPLXxbeuvI98_47KT7nYd3Xw7_LTJvoj10MymRJiNrunIrjDVb"
    "xpLb3rDZUxYAPK2dkH4iYK2u0dRw6nMdVVU2Hc-NguICgIwiGR-QX5ccoV1mOlpjebxxcGpMO5rcsPUMfwFkeP-SyEoGBwIhWLHoJyCLHg5Z5J8Q8j"
    "w";
constexpr const char* p256_x = "Zussla9k2nnAYu-0F4GcIYRxaJp2r8lFNh2ad8ib7tA";
constexpr const char* p256_y = "bm0VkkJGybXBtlezrqfO6tiSNrMb9jrYnBJwYy_sKNw";

const key_set& keys() {
  static const key_set all = [] {
    key_set out;
    out.keys.push_back({"", verification_key::from_secret(secret)});
    const auto rsa = verification_key::from_rsa(*base64url_decode(rsa_modulus), *base64url_decode("AQAB"));
    const auto p256 = verification_key::from_ec("P-256", *base64url_decode(p256_x), *base64url_decode(p256_y));
    fuzz::check(rsa && p256, "the test keys are valid");
    out.keys.push_back({"rs256", *rsa});
    out.keys.push_back({"es256", *p256});
    return out;
  }();
  return all;
}

const json::value& member(const json::object& o, std::string_view name) {
  static const json::value none;
  const auto* v = o.if_contains(name);
  return v ? *v : none;
}

// Whether a claim (a string, a list of strings, or an object with a member object) contains the role.
bool contains_role(const json::value& claim, std::string_view role) {
  if (const auto* list = claim.if_array()) {
    for (const auto& one : *list)
      if (one == json::value(role)) return true;
  }
  if (const auto* o = claim.if_object()) return member(*o, role).is_object();
  return claim == json::value(role);
}

// JSON has no infinity: such a number (1e320) would be serialised as text that no parser accepts.
bool is_finite(const json::value& v) {
  if (const auto* number = v.if_double()) return std::isfinite(*number);
  if (const auto* list = v.if_array()) return std::all_of(list->begin(), list->end(), is_finite);
  if (const auto* o = v.if_object())
    return std::all_of(o->begin(), o->end(), [](const auto& entry) { return is_finite(entry.value()); });
  return true;
}

bool same(const principal& a, const principal& b) {
  return a.subject == b.subject && a.issuer == b.issuer && a.email == b.email && a.role == b.role &&
         a.expires_unix_us == b.expires_unix_us;
}

void check(std::string_view payload, const claim_rules& rules) {
  const auto c = check_claims(payload, rules, now_us);
  if (c.refused) {
    fuzz::check(*c.refused != 0, "an error has a message");
    return;
  }
  const std::int64_t leeway_us = rules.leeway_s * 1'000'000;
  fuzz::check(!c.who.subject.empty() && c.who.subject.size() <= 255, "a principal has a subject");
  for (const auto* text : {&c.who.subject, &c.who.email})
    for (const char b : *text)
      fuzz::check(static_cast<unsigned char>(b) >= 0x20 && b != 0x7f, "subject and address have no control characters");
  fuzz::check(c.who.expires_unix_us + leeway_us > now_us, "an expired token is rejected");
  if (c.claims.contains("nbf"))
    fuzz::check(member(c.claims, "nbf").is_number() &&
                    member(c.claims, "nbf").to_number<double>() * 1e6 <= now_us + leeway_us + 1e6,
                "a token that is not valid yet is rejected");
  fuzz::check(rules.issuer.empty() || c.who.issuer == rules.issuer, "another issuer is rejected");
  if (!rules.audiences.empty()) {
    const auto& aud = member(c.claims, "aud");
    bool listed = aud == json::value(rules.audiences.front());
    if (const auto* list = aud.if_array())
      for (const auto& one : *list) listed = listed || one == json::value(rules.audiences.front());
    fuzz::check(listed, "another audience is rejected");
  }
  if (c.who.role != role::user) {
    const auto role_name = to_string(c.who.role);
    bool granted = contains_role(member(c.claims, "role"), role_name) ||
                   contains_role(member(c.claims, "roles"), role_name) ||
                   contains_role(member(c.claims, "app_metadata.role"), role_name);
    if (const auto* app = member(c.claims, "app_metadata").if_object())
      granted = granted || contains_role(member(*app, "role"), role_name);
    fuzz::check(granted, "the claims of the issuer grant the role");
  }
  // Users can edit user_metadata at the provider, so it must have no effect.
  json::object without = c.claims;
  without.erase("user_metadata");
  if (!is_finite(without)) return;
  const auto again = check_claims(json::serialize(without), rules, now_us);
  fuzz::check(!again.refused && same(again.who, c.who), "user_metadata is ignored");
  const auto token = sign_hs256(secret, "JWT", without);
  const auto parsed = parse_token(token, token.size());
  fuzz::check(!parsed.refused && looks_like_jwt(token) && check_signature(keys(), parsed) == signature_check::valid,
              "a token signed with our secret is valid");
}

void read(std::string_view text, const claim_rules& rules) {
  const auto t = parse_token(text, max_token);
  if (t.refused) {
    fuzz::check(*t.refused != 0, "an error has a message");
    return;
  }
  fuzz::check(text.size() <= max_token, "a token obeys its limit");
  const auto dot = text.find('.');
  const auto header = base64url_decode(text.substr(0, dot));
  fuzz::check(header.has_value(), "a header can be decoded");
  fuzz::check(
      base64url_encode(*header) + "." + base64url_encode(t.payload) + "." + base64url_encode(t.signature) == text,
      "a token has exactly one encoding");
  fuzz::check(t.signing_input == text.substr(0, text.rfind('.')),
              "the signing input is everything before the signature");
  const bool valid = check_signature(keys(), t) == signature_check::valid;
  fuzz::check(!valid || t.payload == signed_payload || t.payload == payload_of_secret,
              "only signed payloads are valid");
  check(t.payload, rules);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  claim_rules rules;
  if (choice & 2) {
    rules.issuer = "https://issuer.example";
    rules.audiences = {"runyard"};
  }
  if (choice % 2 == 0) {
    (void)looks_like_jwt(input);
    read(input, rules);
    return 0;
  }
  // Header and claims as JSON, with the signature of another token.
  const auto line = input.find('\n');
  const auto payload = line == input.npos ? std::string_view() : input.substr(line + 1);
  check(payload, rules);
  const std::string head = base64url_encode(input.substr(0, line)) + "." + base64url_encode(payload);
  const auto other = sign_hs256(secret, "JWT", {{"sub", "a"}});
  read(head + other.substr(other.rfind('.')), rules);
  return 0;
}

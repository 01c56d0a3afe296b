#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ry/cpp/settings_check.hpp>

#include "body.hpp"
#include "types.hpp"

using namespace accounts;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

template <class F>
ry::error error_of(F f) {
  try {
    f();
  } catch (const ry::error& e) {
    return e;
  }
  ADD_FAILURE() << "no error";
  return ry::error(RY_OK);
}

identity read(std::string subject, std::string email, std::string claims) {
  ry_principal p{};
  p.struct_size = sizeof p;
  p.subject = ry::str(subject);
  p.email = ry::str(email);
  p.auth_kind = ry::str("jwt");
  p.claims_json = ry::str(claims);
  return read_identity(p);
}

}  // namespace

TEST(config, has_built_in_tiers) {
  ry::settings_faults faults;
  const auto c = read_config("{}", faults);
  EXPECT_EQ(c.default_tier->name, "free");
  const auto& free = c.find("free").view;
  EXPECT_EQ(free.concurrent_runs, 1);
  EXPECT_EQ(free.threads, 10);
  EXPECT_EQ(free.custom_mcps, 1);
  EXPECT_EQ(free.upload_file_bytes, 10 * 1024 * 1024);
  EXPECT_EQ(free.upload_files, 10);
  ASSERT_EQ(free.n_models, 1u);
  EXPECT_EQ(ry::view(free.models[0]), "runyard/basic");
  const auto& pro = c.find("pro").view;
  EXPECT_EQ(pro.concurrent_runs, 3);
  EXPECT_EQ(pro.n_models, 2u);
  EXPECT_FALSE(pro.all_models);
  EXPECT_TRUE(c.find("enterprise").view.all_models);
  EXPECT_EQ(c.find("unknown").name, "free");
  EXPECT_FALSE(c.has_tier("unknown"));
  EXPECT_EQ(c.low_credit_percent, 20);
  EXPECT_EQ(c.audit_days, 365);
  EXPECT_EQ(c.new_api_keys_hour, 60);
}

TEST(config, overrides_single_values_and_adds_tiers) {
  ry::settings_faults faults;
  const auto c =
      read_config(R"({"default_tier":"team","low_credit_percent":5,"audit_days":30,"new_api_keys_hour":7,"tiers":{
    "free":{"concurrent_runs":2},
    "team":{"threads":77,"models":["runyard/power","openai/gpt-4o"]},
    "pro":{"models":["*"]}}})",
                  faults);
  EXPECT_TRUE(faults.all().empty());
  EXPECT_EQ(c.find("free").concurrent_runs, 2);
  EXPECT_EQ(c.find("free").threads, 10);
  EXPECT_EQ(c.default_tier->name, "team");
  EXPECT_EQ(c.default_tier->threads, 77);
  EXPECT_THAT(c.default_tier->models, ElementsAre("runyard/power", "openai/gpt-4o"));
  EXPECT_TRUE(c.find("pro").view.all_models);
  EXPECT_EQ(c.find("pro").view.n_models, 0u);
  EXPECT_EQ(c.low_credit_percent, 5);
  EXPECT_EQ(c.audit_days, 30);
  EXPECT_EQ(c.new_api_keys_hour, 7);
  EXPECT_EQ(limits_json(c.find("free")),
            R"({"concurrent_runs":2,"threads":10,"custom_mcps":1,"upload_file_bytes":10485760,)"
            R"("upload_files":10,"all_models":false,"models":["runyard/basic"]})");
}

TEST(config, invalid_values_are_reported_with_their_key) {
  for (const auto& [text, key] : std::vector<std::pair<std::string, std::string>>{
           {R"({"tiers":{"free":{"threads":-1}}})", "accounts.tiers.free.threads"},
           {R"({"tiers":{"free":{"threads":"1"}}})", "accounts.tiers.free.threads"},
           {R"({"tiers":{"free":{"starting_credits":9223372036854775807}}})", "accounts.tiers.free.starting_credits"},
           {R"({"tiers":{"free":{"starting_credits":0.0000001}}})", "accounts.tiers.free.starting_credits"},
           {R"({"tiers":{"free":{"starting_credits":-1}}})", "accounts.tiers.free.starting_credits"},
           {R"({"tiers":{"pro":{"models":[1]}}})", "accounts.tiers.pro.models"},
           {R"({"tiers":{"pro":7}})", "accounts.tiers.pro"},
           {R"({"tiers":[]})", "accounts.tiers"},
           {R"({"low_credit_percent":101})", "accounts.low_credit_percent"},
           {R"({"default_tier":"gold"})", "accounts.default_tier"}}) {
    ry::settings_faults faults;
    read_config(text, faults);
    ASSERT_EQ(faults.all().size(), 1u) << text;
    EXPECT_EQ("accounts." + faults.all()[0].key, key) << text;
  }
}

TEST(config, starting_credits_may_have_decimals) {
  for (const auto& [text, micro] :
       std::vector<std::pair<std::string, std::int64_t>>{{"0", 0},
                                                         {"7", 7'000'000},
                                                         {"0.1", 100'000},
                                                         {"1.000001", 1'000'001},
                                                         {"123456789.654321", 123'456'789'654'321}}) {
    ry::settings_faults faults;
    const auto c = read_config(R"({"tiers":{"free":{"starting_credits":)" + text + "}}}", faults);
    EXPECT_TRUE(faults.all().empty()) << text;
    EXPECT_EQ(c.find("free").starting_micro, micro) << text;
  }
}

TEST(identity, reads_the_claims_of_tokens) {
  const auto a = read("11111111-1111-4111-8111-111111111111", "ann@example.org",
                      R"({"user_metadata":{"full_name":"Ann Other","referral_code":"ABCD2345"},
                          "email_verified":true})");
  ASSERT_TRUE(a.id);
  EXPECT_EQ(a.id->to_string(), "11111111-1111-4111-8111-111111111111");
  EXPECT_EQ(a.name, "Ann Other");
  EXPECT_EQ(a.referral_code, "ABCD2345");
  EXPECT_TRUE(a.verified);

  const auto b = read("auth0|77", "bob@example.org", "{}");
  EXPECT_FALSE(b.id);
  EXPECT_EQ(b.name, "bob");
  EXPECT_FALSE(b.verified);
  EXPECT_EQ(read("x", "", R"({"name":"From Claim"})").name, "From Claim");
  EXPECT_TRUE(read("x", "", R"({"app_metadata":{"email_verified":true}})").verified);
}

TEST(identity, reads_phone_and_avatar) {
  const auto a = read(
      "s", "", R"({"phone":"+1 2","picture":"https://p","user_metadata":{"avatar_url":"https://a","phone":"+3 4"}})");
  EXPECT_EQ(a.phone, "+1 2");
  EXPECT_EQ(a.avatar, "https://a");
  const auto b =
      read("s", "", R"({"phone":7,"picture":"https://p","user_metadata":{"phone":"+3 4","avatar_url":"a\nb"}})");
  EXPECT_EQ(b.phone, "+3 4");
  EXPECT_EQ(b.avatar, "https://p");
}

TEST(identity, entra_addresses_are_verified_by_the_owner_of_their_domain) {
  const auto verified = [](const std::string& iss, const std::string& more) {
    return read("x", "a@b.example", "{\"iss\":\"" + iss + "\"," + more + "}").verified;
  };
  const std::string entra = "https://login.microsoftonline.com/0f/v2.0";
  for (const char* accepted : {R"("xms_edov":true)", R"("xms_edov":"true")", R"("xms_edov":1)", R"("xms_edov":"1")"})
    EXPECT_TRUE(verified(entra, accepted)) << accepted;
  for (const char* rejected : {R"("xms_edov":false)", R"("xms_edov":"false")", R"("xms_edov":0)", R"("xms_edov":"0")",
                               R"("xms_edov":2)", R"("xms_edov":[true])", R"("xms_edov":{})", R"("xms_edov":null)",
                               R"("xms_edov":true,"email_verified":false)", R"("user_metadata":{"xms_edov":true})"})
    EXPECT_FALSE(verified(entra, rejected)) << rejected;
  for (const char* iss : {"https://sts.windows.net/0f/", "https://login.microsoftonline.us/0f/v2.0",
                          "https://shop.ciamlogin.com/0f/v2.0"})
    EXPECT_TRUE(verified(iss, R"("xms_edov":true)")) << iss;
  for (const char* iss :
       {"https://id.example/", "https://login.microsoftonline.com.example/0f", "http://login.microsoftonline.com/0f",
        "https://example/login.microsoftonline.com/", "https://ciamlogin.com.example/"})
    EXPECT_FALSE(verified(iss, R"("xms_edov":true)")) << iss;
}

TEST(identity, the_role_of_a_token_counts_except_for_local_sessions) {
  ry_principal p{};
  p.struct_size = sizeof p;
  p.subject = ry::str("x");
  p.role = RY_ROLE_ADMIN;
  const auto role = [&](const char* kind, const char* claims) {
    p.auth_kind = ry::str(kind);
    p.claims_json = ry::str(claims);
    return read_identity(p).role;
  };
  EXPECT_EQ(role("jwt", R"({"iss":"https://id.example/","sid":"1"})"), static_cast<std::uint32_t>(RY_ROLE_ADMIN));
  EXPECT_EQ(role("jwt", R"({"iss":"runyard"})"), static_cast<std::uint32_t>(RY_ROLE_ADMIN)) << "runyard token --role";
  EXPECT_EQ(role("jwt", R"({"iss":"runyard","sid":"1"})"), static_cast<std::uint32_t>(RY_ROLE_USER))
      << "a local session";
  EXPECT_EQ(role("api_key", "{}"), static_cast<std::uint32_t>(RY_ROLE_USER));
}

TEST(identity, ignores_untrusted_or_malformed_claims) {
  EXPECT_FALSE(read("x", "", R"({"user_metadata":{"email_verified":true}})").verified);
  for (const char* accepted :
       {R"({"email_verified":true})", R"({"email_verified":"true"})", R"({"app_metadata":{"email_verified":"TRUE"}})"})
    EXPECT_TRUE(read("x", "", accepted).verified) << accepted;
  for (const char* rejected :
       {R"({"email_verified":"false"})", R"({"email_verified":"0"})", R"({"email_verified":"1"})",
        R"({"email_verified":1})", R"({"email_verified":{}})", R"({"email_verified":[true]})"})
    EXPECT_FALSE(read("x", "", rejected).verified) << rejected;
  for (const char* accepted : {R"({"is_anonymous":true})", R"({"is_anonymous":"true"})", R"({"is_anonymous":1})",
                               R"({"is_anonymous":"no"})", R"({"firebase":{"sign_in_provider":"anonymous"}})"})
    EXPECT_EQ(read("x", "", accepted).anonymous, true) << accepted;
  for (const char* rejected :
       {"{}", R"({"is_anonymous":false})", R"({"is_anonymous":"false"})", R"({"is_anonymous":null})",
        R"({"is_anonymous":"FALSE"})", R"({"is_anonymous":0})", R"({"is_anonymous":"0"})",
        R"({"firebase":{"sign_in_provider":"password"}})", R"({"user_metadata":{"is_anonymous":true}})"})
    EXPECT_EQ(read("x", "", rejected).anonymous, false) << rejected;
  EXPECT_EQ(read("x", "", R"({"iat":1767322800})").issued_unix_us, 1'767'322'800'000'000);
  EXPECT_FALSE(read("x", "", R"({"iat":"now"})").issued_unix_us);
  const auto a = read("x", "a@b", R"({"user_metadata":{"full_name":"a\u0000b","name":["n"],
                                      "referral_code":"x\ny"},"name":7})");
  EXPECT_EQ(a.name, "ab");
  EXPECT_EQ(a.referral_code, "");
  EXPECT_EQ(read("x", "", R"({"name":" \u202eAnn\u00a0\t"})").name, "Ann");
  EXPECT_EQ(read("x", "a@b", R"({"name":"\u200b ","user_metadata":{"full_name":"\u2066"}})").name, "a");
  EXPECT_EQ(read("x", "", "[]").name, "");
  EXPECT_EQ(read("x", "", "not json").name, "");
  EXPECT_EQ(read("x", "", R"({"name":")" + std::string(201, 'n') + "\"}").name, "");
}

TEST(api_key, round_trip) {
  const auto a = make_api_key();
  const auto b = make_api_key();
  EXPECT_NE(a.id, b.id);
  EXPECT_NE(a.secret, b.secret);
  const auto parsed = parse_api_key("ry_" + a.id + "_" + a.secret);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->id, a.id);
  EXPECT_EQ(parsed->secret, a.secret);
  EXPECT_TRUE(same_hash(hash_secret(a.secret), hash_secret(parsed->secret)));
  EXPECT_FALSE(same_hash(hash_secret(a.secret), hash_secret(b.secret)));
  EXPECT_FALSE(same_hash(hash_secret(a.secret), ""));
  EXPECT_EQ(hash_secret("abc").substr(0, 4), "\xba\x78\x16\xbf");
}

TEST(api_key, rejects_malformed_keys) {
  const std::string id(16, 'a'), secret(64, 'b');
  EXPECT_TRUE(parse_api_key("ry_" + id + "_" + secret));
  for (const std::string& bad :
       {std::string(), std::string("ry_"), "ry_" + id, "ry_" + id + "_", "ry_" + id + "_" + secret + "b",
        "ry_" + id + secret + "__", "RY_" + id + "_" + secret, "ry_" + std::string(16, 'A') + "_" + secret,
        "ry_" + id + "_" + std::string(64, 'g'), "ry_" + id + "_" + std::string(63, 'b') + std::string(1, '\0')}) {
    EXPECT_FALSE(parse_api_key(bad)) << bad;
  }
}

TEST(body, reads_strictly) {
  const body b(R"({"name":"x","n":5,"none":null})", {"name", "n", "none"});
  EXPECT_EQ(b.text("name", 1, 10), "x");
  EXPECT_EQ(b.integer("n", 1, 10), 5);
  EXPECT_EQ(b.text("none", 1, 10), std::nullopt);
  EXPECT_EQ(b.integer("absent", 1, 10), std::nullopt);
  EXPECT_FALSE(body("  \n", {}).has("x"));
  EXPECT_EQ(error_of([] { body("[]", {}); }).status(), RY_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([] { body("{", {}); }).http_status(), 0u);
  for (const char* text : {R"({"name":5})", R"({"name":""})", R"({"name":"a\u0000"})", R"({"name":"aaaaaaaaaaa"})"}) {
    const auto e = error_of([&] { body(text, {"name"}).text("name", 1, 10); });
    EXPECT_EQ(e.http_status(), 422u) << text;
    EXPECT_THAT(std::string(e.message()), HasSubstr("name"));
  }
  EXPECT_EQ(body(R"({"name":" A\u0007\u202eB\u00a0"})", {"name"}).name("name", 10), "AB");
  EXPECT_EQ(body(R"({"name":null})", {"name"}).name("name", 10), std::nullopt);
  for (const char* blank :
       {R"({"name":""})", R"({"name":"\u200b"})", R"({"name":"\u202e\u0007"})", R"({"name":"\u0007\u200d"})"}) {
    const auto e = error_of([&] { body(blank, {"name"}).name("name", 10); });
    EXPECT_EQ(e.http_status(), 422u) << blank;
    EXPECT_EQ(e.message(), "name must not be blank") << blank;
  }
  EXPECT_EQ(error_of([&] { body(R"({"name":"aaaaaaaaaaa"})", {"name"}).name("name", 10); }).http_status(), 422u);
  for (const char* text : {R"({"n":0})", R"({"n":11})", R"({"n":1.5})", R"({"n":"5"})", R"({"n":99999999999999999999})",
                           R"({"n":true})"}) {
    EXPECT_EQ(error_of([&] { body(text, {"n"}).integer("n", 1, 10); }).http_status(), 422u) << text;
  }
  EXPECT_THAT(std::string(error_of([] { body(R"({"teir":"pro"})", {"tier"}); }).message()), HasSubstr("teir"));
}

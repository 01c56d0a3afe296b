#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "curve.hpp"
#include "expo.hpp"
#include "web_push.hpp"

using namespace notify_push;
namespace json = boost::json;
using testing::HasSubstr;

namespace {

constexpr const char* p256dh =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

subscription sample_subscription() {
  return read_subscription(
      std::string(R"({"endpoint":"https://push.example/abc","expirationTime":null,"keys":{"p256dh":")") + p256dh +
      R"(","auth":"BTBZMqHH6r4Tts7J_aSIgg"}})");
}

// The example of RFC 8291, appendix A.
TEST(web_push, encrypts_the_example_of_rfc_8291) {
  const auto body =
      encrypt(sample_subscription(), "When I grow up, I want to be a watermelon",
              from_base64url("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), from_base64url("DGv6ra1nlYgDCS1FRnbzlw"));
  EXPECT_EQ(to_base64url(body),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_"
            "c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBr"
            "u3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN");
}

TEST(web_push, the_longest_message_fits_into_one_record) {
  EXPECT_EQ(encrypt(sample_subscription(), std::string(max_message_bytes, 'x')).size(), 4096u);
  EXPECT_THROW(encrypt(sample_subscription(), std::string(max_message_bytes + 1, 'x')), ry::error);
  EXPECT_NE(encrypt(sample_subscription(), "x"), encrypt(sample_subscription(), "x"))
      << "each message has a new key and salt";
}

TEST(web_push, an_invalid_subscription_names_the_member) {
  const auto fault = [](const std::string& text) -> std::string {
    try {
      read_subscription(text);
    } catch (const ry::error& e) {
      return std::string(e.message());
    }
    return "";
  };
  const auto with = [](const char* endpoint, const char* key, const char* auth) {
    return std::string(R"({"endpoint":")") + endpoint + R"(","keys":{"p256dh":")" + key + R"(","auth":")" + auth +
           "\"}}";
  };
  const char* good = "https://push.example/abc";
  const char* auth = "BTBZMqHH6r4Tts7J_aSIgg";
  EXPECT_EQ(fault(with(good, p256dh, auth)), "");
  EXPECT_EQ(fault(with(good, p256dh, "BTBZMqHH6r4Tts7J_aSIgg==")), "");
  EXPECT_EQ(fault(with(good, p256dh, "BTBZMqHH6r4Tts7J/aSIgg==")), "") << "the standard alphabet";
  EXPECT_THAT(fault(with(good, p256dh, "BTBZMqHH6r4Tts7J/aSI_g==")), HasSubstr("keys.auth"))
      << "a mix of both alphabets";
  for (const char* text : {"", "[]", "x", "\"s\""}) EXPECT_THAT(fault(text), HasSubstr("subscription as JSON")) << text;
  EXPECT_THAT(fault("{}"), HasSubstr("endpoint is missing"));
  EXPECT_THAT(fault(R"({"endpoint":"https://x"})"), HasSubstr("keys is missing"));
  EXPECT_THAT(fault(R"({"endpoint":"https://x","keys":{}})"), HasSubstr("keys.p256dh"));
  for (const char* url : {"ftp://x/", "https://", "https:///a", "https://u@x/", "https://a b/", "x", "https://:1/"})
    EXPECT_THAT(fault(with(url, p256dh, auth)), HasSubstr("endpoint")) << url;
  EXPECT_THAT(fault(with(good, p256dh, "AAAA")), HasSubstr("keys.auth"));
  EXPECT_THAT(fault(with(good, "AAAA", auth)), HasSubstr("keys.p256dh"));
  // A point that is not on the curve.
  const std::string off_curve = to_base64url(std::string("\x04") + std::string(64, '\x01'));
  EXPECT_THAT(fault(with(good, off_curve.c_str(), auth)), HasSubstr("keys.p256dh"));
}

TEST(web_push, keys_survive_writing_and_reading) {
  const auto key = vapid_key::read("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
  EXPECT_EQ(key.public_text(),
            "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8");
  EXPECT_EQ(key.private_text(), "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
  const auto generated = vapid_key::generate();
  EXPECT_EQ(vapid_key::read(generated.private_text()).public_text(), generated.public_text());
  const std::string zero_key = to_base64url(std::string(32, '\0')),
                    too_large_key = to_base64url(std::string(32, '\xff'));
  for (const std::string& bad : {std::string(), std::string("AAAA"), std::string("!!!"), zero_key, too_large_key})
    EXPECT_THROW(vapid_key::read(bad), ry::error) << bad;
}

TEST(web_push, the_vapid_token_is_for_the_origin) {
  EXPECT_EQ(origin_of("https://push.example:443/abc?x"), "https://push.example");
  EXPECT_EQ(origin_of("https://push.example:8443/abc"), "https://push.example:8443");
  EXPECT_EQ(origin_of("http://127.0.0.1:80"), "http://127.0.0.1");
  const auto key = vapid_key::generate();
  const std::string text = key.authorization("https://push.example/abc", "mailto:a@b.c", 1000);
  const auto begin = text.find('.') + 1;
  EXPECT_EQ(json::parse(from_base64url(text.substr(begin, text.find('.', begin) - begin))),
            json::parse(R"({"aud":"https://push.example","exp":1000,"sub":"mailto:a@b.c"})"));
  EXPECT_TRUE(text.starts_with("vapid t="));
  EXPECT_TRUE(text.ends_with(", k=" + key.public_text()));
}

TEST(expo, the_form_of_tokens_is_checked) {
  for (const char* good :
       {"ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]", "ExpoPushToken[a]", "f5abf9a8-5b3f-4b1c-9d51-3a3f9d4b0c11"})
    EXPECT_TRUE(is_expo_token(good)) << good;
  for (const char* bad : {"", "x", "ExponentPushToken[]", "ExponentPushToken[a", "ExponentPushToken[a]b",
                          "ExponentPushToken[a\"]", "ExponentPushToken[a]]", "exponentpushtoken[a]"})
    EXPECT_FALSE(is_expo_token(bad)) << bad;
}

TEST(expo, each_device_has_its_own_ticket) {
  const std::vector<std::string> tokens{"A", "B", "C", "D", "E"};
  const auto rs = read_expo_tickets(200, R"({"data":[{"status":"ok","id":"t1"},
    {"status":"error","message":"m","details":{"error":"DeviceNotRegistered"}},
    {"status":"error","message":"m","details":{"error":"MessageRateExceeded"}},
    {"status":"error","message":"m","details":{"error":"MessageTooBig"}},
    {"status":"error","message":"m","details":{"error":"InvalidCredentials"}}]})",
                                    tokens, 0);
  ASSERT_EQ(rs.size(), 5u);
  const int outcomes[] = {RY_NOTIFY_ACCEPTED, RY_NOTIFY_GONE, RY_NOTIFY_RETRY_NEW, RY_NOTIFY_REFUSED,
                          RY_NOTIFY_RETRY_NEW};
  for (std::size_t i = 0; i < 5; i++) {
    EXPECT_EQ(rs[i].outcome, outcomes[i]) << i;
    EXPECT_EQ(rs[i].token, tokens[i]);
  }
  EXPECT_EQ(rs[0].provider_id, "t1");
  EXPECT_GT(rs[4].retry_after_s, 0u);
  for (const char* body : {"", "{}", "[]", R"({"data":[]})", "<html>"})
    EXPECT_EQ(read_expo_tickets(200, body, tokens, 0)[4].outcome, RY_NOTIFY_RETRY_NEW) << body;
  EXPECT_EQ(read_expo_tickets(429, "{}", tokens, 9)[0].retry_after_s, 9u);
  EXPECT_EQ(read_expo_tickets(400, "{}", tokens, 0)[0].outcome, RY_NOTIFY_REFUSED);
  EXPECT_EQ(read_expo_tickets(503, "{}", tokens, 0)[0].outcome, RY_NOTIFY_RETRY_NEW);
}

TEST(web_push, a_mismatch_of_the_vapid_key_is_recognized) {
  for (
      const auto& [status, body] : std::initializer_list<std::pair<std::uint32_t, const char*>>{
          {403,
           "the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions."},
          {403,
           "the key in the authorization header does not correspond to the sender ID used to subscribe this user."},
          {403, "<HTML>\n<HEAD>\n<TITLE>MismatchSenderId</TITLE>\n</HEAD>"},
          {401, R"({"code":401,"errno":109,"error":"Unauthorized","message":"VAPID public key mismatch"})"},
          {400, R"({"reason":"VapidPkHashMismatch"})"}})
    EXPECT_TRUE(is_vapid_key_mismatch(status, body)) << status << " " << body;
  for (const auto& [status, body] : std::initializer_list<std::pair<std::uint32_t, const char*>>{
           {403, R"({"reason":"BadJwtToken"})"},
           {403, R"({"reason":"ExpiredProviderToken"})"},
           {403, "<html>Access denied by the firewall</html>"},
           {403, ""},
           {403, "Forbidden"},
           {403, "Access denied: the names of certificate and host do not correspond"},
           {403, "TLS key mismatch"},
           {401, R"({"code":401,"errno":109,"message":"Invalid authorization: expired"})"},
           {401, ""},
           {400, ""},
           {413, "key mismatch"},
           {500, R"({"reason":"VapidPkHashMismatch"})"}})
    EXPECT_FALSE(is_vapid_key_mismatch(status, body)) << status << " " << body;
  EXPECT_TRUE(is_vapid_key_mismatch(401, "", "The public key of the token does not match that of the channel Url"));
  EXPECT_FALSE(is_vapid_key_mismatch(401, "", "JWT Authentication Failed, unable to validate token signature"));
  EXPECT_FALSE(is_vapid_key_mismatch(403, "", "The channel does not belong to this application"));
}

TEST(expo, receipts_map_to_results) {
  std::vector<ry::notify::sent> sent(4);
  const char* ids[] = {"r1", "r2", "r3", "r4"};
  for (std::size_t i = 0; i < 4; i++) sent[i].provider_id = ids[i], sent[i].token = std::string("T") + ids[i];
  const auto rs = read_expo_receipts(200, R"({"data":{"r1":{"status":"ok"},
    "r2":{"status":"error","message":"m","details":{"error":"DeviceNotRegistered"}},
    "r3":{"status":"error","message":"m","details":{"error":"InvalidCredentials"}}}})",
                                     sent);
  ASSERT_EQ(rs.size(), 4u);
  EXPECT_EQ(rs[0].outcome, RY_NOTIFY_DELIVERED);
  EXPECT_EQ(rs[1].outcome, RY_NOTIFY_GONE);
  EXPECT_EQ(rs[1].token, "Tr2");
  EXPECT_EQ(rs[2].outcome, RY_NOTIFY_REFUSED);
  EXPECT_EQ(rs[3].outcome, RY_NOTIFY_ACCEPTED) << "no receipt yet";
  EXPECT_THROW(read_expo_receipts(500, "{}", sent), ry::error);
}

}  // namespace

#include "wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "settings.hpp"

using namespace notify_novu;
namespace json = boost::json;
using testing::HasSubstr;

namespace {

constexpr std::uint32_t all = RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH | RY_NOTIFY_IN_APP;

ry::notify::notification sample(std::uint32_t channels = all) {
  const ry::notify::subscriber recipient = [] {
    ry::notify::subscriber s;
    s.account_id = "5d0e";
    s.email = "ann@example.org";
    s.name = "Ann  Marie Lee";
    s.first_name = "Ann";
    return s;
  }();
  const ry_notify_subscriber to = recipient.view();
  const ry_notify_content texts{sizeof texts, 0, {}, {}, {}, {}, {}};
  const ry::notify::token device("expo", "ExponentPushToken[x]", "mobile");
  const ry_notify_token token = device.view();
  ry_notify_trigger t{};
  t.struct_size = sizeof t;
  t.channels = channels;
  t.workflow = ry::str("task-completed");
  t.key = ry::str("0123456789abcdef0123456789abcdef");
  t.epoch = 2;
  t.payload_json = ry::str(R"({"first_name":"Ann"})");
  t.to = &to;
  t.content = &texts;
  t.tokens = &token;
  t.n_tokens = 1;
  t.token_stride = sizeof token;
  return ry::notify::notification(t);
}

response make_response(std::uint32_t status, std::string body, std::optional<std::uint32_t> after = {}) {
  return {status, std::move(body), after};
}

TEST(novu_requests, a_trigger_has_an_idempotency_key_of_key_and_epoch) {
  const auto c = trigger_call(sample());
  EXPECT_EQ(c.method + " " + c.path, "POST /v1/events/trigger");
  EXPECT_EQ(c.idempotency_key, "0123456789abcdef0123456789abcdef.2");
  EXPECT_EQ(json::parse(c.body), json::parse(R"({"name":"task-completed","payload":{"first_name":"Ann"},
    "to":{"subscriberId":"5d0e","email":"ann@example.org","firstName":"Ann","lastName":"Marie Lee"},
    "transactionId":"0123456789abcdef0123456789abcdef"})"));
}

TEST(novu_requests, the_payload_lists_the_channels_if_one_is_turned_off) {
  const auto c = trigger_call(sample(RY_NOTIFY_PUSH | RY_NOTIFY_IN_APP));
  EXPECT_EQ(json::parse(c.body).at("payload").at("channels"),
            json::parse(R"({"email":false,"push":true,"in_app":true})"));
  auto welcome = sample(RY_NOTIFY_EMAIL);
  welcome.workflow = "welcome-email";
  EXPECT_EQ(json::parse(trigger_call(welcome).body).at("payload"), json::parse(R"({"first_name":"Ann"})"))
      << "the workflow has no other channel";
}

TEST(novu_requests, channels_without_an_address_are_omitted) {
  auto n = sample();
  n.tokens.clear();
  EXPECT_EQ(deliverable_channels(n), RY_NOTIFY_EMAIL | RY_NOTIFY_IN_APP);
  n.to.email.clear();
  EXPECT_EQ(deliverable_channels(n), RY_NOTIFY_IN_APP);
}

TEST(novu_requests, tokens_replace_the_list_and_an_empty_list_deletes_it) {
  const std::vector<ry::notify::token> two{{"fcm", "a:b", "mobile"}, {"fcm", "c", "mobile"}};
  auto c = tokens_call("a/b", "fcm", two, "fcm-eu");
  EXPECT_EQ(c.method + " " + c.path, "PUT /v1/subscribers/a%2Fb/credentials");
  EXPECT_EQ(json::parse(c.body), json::parse(R"({"providerId":"fcm","credentials":{"deviceTokens":["a:b","c"]},
    "integrationIdentifier":"fcm-eu"})"));
  c = tokens_call("a", "fcm", {}, "");
  EXPECT_EQ(c.method + " " + c.path, "DELETE /v1/subscribers/a/credentials/fcm");
  EXPECT_TRUE(c.body.empty());
}

TEST(novu_requests, the_error_for_an_invalid_token_names_the_cause) {
  check_token({"expo", "ExponentPushToken[x]", "mobile"});
  const auto fault = [](const ry::notify::token& t) -> std::string {
    try {
      check_token(t);
    } catch (const ry::error& e) {
      return std::string(e.message());
    }
    return "";
  };
  EXPECT_THAT(fault({"web-push", "x", "web"}), HasSubstr("expo, fcm, apns"));
  EXPECT_THAT(fault({"expo", "", ""}), HasSubstr("device_token"));
  EXPECT_THAT(fault({"expo", "a\nb", ""}), HasSubstr("control"));
  EXPECT_THAT(fault({"expo", std::string(4097, 'x'), ""}), HasSubstr("4096"));
}

TEST(novu_responses, only_processed_is_accepted) {
  const auto r = read_trigger(
      make_response(201, R"({"data":{"acknowledged":true,"status":"processed","transactionId":"t1"}})"), all);
  EXPECT_EQ(r.outcome, RY_NOTIFY_ACCEPTED);
  EXPECT_EQ(r.provider_id, "t1");
  EXPECT_EQ(r.channels, all);
  EXPECT_EQ(read_trigger(make_response(201, R"({"acknowledged":true,"status":"processed"})"), all).outcome,
            RY_NOTIFY_ACCEPTED)
      << "Novu's API description omits the envelope";
  for (const char* status : {"trigger_not_active", "no_workflow_steps_defined", "no_workflow_active_steps_defined",
                             "no_tenant_found", "invalid_recipients", "error"}) {
    const auto bad = read_trigger(make_response(201, R"({"data":{"acknowledged":true,"error":["reason"],"status":")" +
                                                         std::string(status) + "\"}}"),
                                  all);
    EXPECT_EQ(bad.outcome, RY_NOTIFY_REFUSED) << status;
    EXPECT_THAT(bad.detail, HasSubstr(std::string(status) + ": reason"));
  }
  EXPECT_EQ(read_trigger(make_response(201, R"({"data":{"acknowledged":false,"status":"processed"}})"), all).outcome,
            RY_NOTIFY_REFUSED);
  for (const char* body : {"", "{", "[]", "null", "{\"data\":null}", "<html>"})
    EXPECT_EQ(read_trigger(make_response(200, body), all).outcome, RY_NOTIFY_RETRY) << body;
}

TEST(novu_responses, failures_map_to_outcomes) {
  const auto outcome = [](std::uint32_t status, const char* body = "{}") {
    return read_trigger(make_response(status, body, 7), all).outcome;
  };
  for (const auto s : {408u, 409u, 429u}) EXPECT_EQ(outcome(s), RY_NOTIFY_RETRY) << s;
  for (const auto s : {500u, 502u, 503u, 504u}) EXPECT_EQ(outcome(s), RY_NOTIFY_RETRY_NEW) << s;
  for (const auto s : {400u, 404u, 413u, 422u}) EXPECT_EQ(outcome(s), RY_NOTIFY_REFUSED) << s;
  for (const auto s : {301u, 401u, 402u, 403u}) EXPECT_EQ(outcome(s), RY_NOTIFY_PAUSED) << s;
  EXPECT_EQ(outcome(422, R"({"message":"Request with key \"k\" is being reused for a different body"})"),
            RY_NOTIFY_RETRY_NEW);
  const auto r = read_trigger(make_response(429, R"({"message":"API rate limit exceeded"})", 2), all);
  EXPECT_EQ(r.retry_after_s, 2u);
  EXPECT_EQ(r.detail, "Novu answered 429: API rate limit exceeded");
  EXPECT_EQ(read_trigger(make_response(400, R"({"message":["name must be a string","a\nb"]})"), all).detail,
            "Novu answered 400: name must be a string; a b");
}

TEST(novu_responses, a_bulk_response_has_a_result_per_item) {
  const std::vector<std::uint32_t> two{RY_NOTIFY_EMAIL, RY_NOTIFY_PUSH};
  auto rs = read_bulk(make_response(201, R"({"data":[{"acknowledged":true,"status":"processed","transactionId":"a"},
    {"acknowledged":true,"status":"error","error":["workflow_not_found"]}]})"),
                      two);
  ASSERT_EQ(rs.size(), 2u);
  EXPECT_EQ(rs[0].outcome, RY_NOTIFY_ACCEPTED);
  EXPECT_EQ(rs[1].outcome, RY_NOTIFY_REFUSED);
  EXPECT_EQ(rs[1].channels, RY_NOTIFY_PUSH);
  EXPECT_THAT(rs[1].detail, HasSubstr("workflow_not_found"));
  for (const auto& a : {make_response(201, R"({"data":[]})"), make_response(400, "{}"), make_response(413, "{}"),
                        make_response(409, "{}")}) {
    rs = read_bulk(a, two);
    ASSERT_EQ(rs.size(), 2u);
    EXPECT_EQ(rs[0].outcome, RY_NOTIFY_RETRY) << a.status;
  }
  EXPECT_EQ(read_bulk(make_response(500, "{}"), two)[1].outcome, RY_NOTIFY_RETRY_NEW);
  EXPECT_EQ(read_bulk(make_response(401, "{}"), two)[1].outcome, RY_NOTIFY_PAUSED);
}

TEST(novu_responses, failures_of_other_calls_map_to_statuses) {
  const auto status = [](const response& a) {
    try {
      check_response(a);
    } catch (const ry::error& e) {
      return e.status();
    }
    return RY_OK;
  };
  EXPECT_EQ(status(make_response(204, "")), RY_OK);
  EXPECT_EQ(status(make_response(400, R"({"message":"SubscriberId: x not found"})")), RY_NOT_FOUND);
  EXPECT_EQ(
      status(make_response(400, R"({"message":"Subscribers environment (e) do not have active expo integration."})")),
      RY_INVALID_ARGUMENT);
  EXPECT_EQ(status(make_response(401, "")), RY_UNAUTHENTICATED);
  EXPECT_EQ(status(make_response(429, "")), RY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(status(make_response(503, "")), RY_UNAVAILABLE);
  EXPECT_TRUE(is_missing_route(make_response(404, R"({"message":"Cannot POST /v2/subscribers"})")));
  EXPECT_FALSE(is_missing_route(make_response(404, R"({"message":"Subscriber not found"})")));
}

TEST(novu_responses, messages_contain_the_delivery_status) {
  const auto read = [](const char* list, std::uint32_t channels = all) {
    return read_messages(make_response(200, std::string(R"({"page":0,"hasMore":false,"data":)") + list + "}"),
                         channels);
  };
  EXPECT_FALSE(read("[]"));
  EXPECT_EQ(read(R"([{"channel":"email","status":"sent"}])")->outcome, RY_NOTIFY_ACCEPTED);
  EXPECT_EQ(read(R"([{"channel":"in_app","status":"sent"}])", RY_NOTIFY_IN_APP)->outcome, RY_NOTIFY_DELIVERED);
  EXPECT_EQ(read(R"([{"channel":"in_app","status":"sent"}])")->outcome, RY_NOTIFY_ACCEPTED);
  const auto failed = read(R"([{"channel":"push","status":"error","errorText":"no token"}])");
  EXPECT_EQ(failed->outcome, RY_NOTIFY_REFUSED);
  EXPECT_THAT(failed->detail, HasSubstr("no token"));
  EXPECT_EQ(
      unrequested_channels(make_response(200, R"({"data":[{"channel":"email"},{"channel":"push"}]})"), RY_NOTIFY_PUSH),
      RY_NOTIFY_EMAIL);
  EXPECT_THROW(read_messages(make_response(200, "[]"), all), ry::error);
}

TEST(novu_responses, the_activity_feed_contains_dropped_messages) {
  const auto read = [](const char* list) {
    return read_activity(make_response(200, std::string(R"({"page":0,"data":)") + list + "}"), all);
  };
  EXPECT_EQ(read("[]").outcome, RY_NOTIFY_ACCEPTED);
  EXPECT_EQ(read(R"([{"jobs":[{"type":"trigger","status":"completed"},{"type":"email","status":"pending"}]}])").outcome,
            RY_NOTIFY_ACCEPTED);
  EXPECT_EQ(read(R"([{"jobs":[{"type":"trigger","status":"completed"}]}])").outcome, RY_NOTIFY_REFUSED);
  const auto failed =
      read(R"([{"jobs":[{"type":"email","status":"failed","executionDetails":[{"detail":"no provider"}]}]}])");
  EXPECT_EQ(failed.outcome, RY_NOTIFY_REFUSED);
  EXPECT_EQ(failed.detail, "Novu's step email failed: no provider");
}

TEST(novu_webhooks, the_current_and_the_older_flat_form_are_parsed) {
  auto r = read_webhook(R"({"type":"notification.failed","transactionId":"t","subscriberId":"s"})").at(0);
  EXPECT_EQ(r.type, "notification.failed");
  EXPECT_EQ(r.key + r.account_id, "ts");
  EXPECT_EQ(r.outcome, RY_NOTIFY_REFUSED);
  r = read_webhook(
          R"({"id":"evt_1","type":"message.failed","object":"message","data":{"object":{"_id":"m",
    "transactionId":"t","channel":"push","providerId":"expo","subscriber":{"subscriberId":"s"}},
    "error":{"message":"gone","push":{"isInvalidToken":true,"deviceToken":"ExponentPushToken[x]"}}}})")
          .at(0);
  EXPECT_EQ(r.type, "notification.failed");
  EXPECT_EQ(r.outcome, RY_NOTIFY_GONE);
  EXPECT_EQ(r.token, "ExponentPushToken[x]");
  EXPECT_EQ(r.channels, RY_NOTIFY_PUSH);
  EXPECT_EQ(r.key + r.account_id + r.provider + r.provider_id, "tsexpom");
  EXPECT_EQ(read_webhook(R"({"type":"message.seen"})").at(0).outcome, RY_NOTIFY_DELIVERED);
  EXPECT_EQ(read_webhook(R"({"type":"message.sent"})").at(0).type, "notification.sent");
  EXPECT_EQ(read_webhook(R"({"type":"workflow.updated"})").at(0).outcome, 0);
  EXPECT_EQ(read_webhook(R"({"type":"subscriber.created","subscriberId":"s"})").at(0).type, "subscriber.created");
  for (const char* bad : {"", "[]", "{}", "{\"type\":1}", "{\"type\":\"\"}", "nonsense"})
    EXPECT_THROW(read_webhook(bad), ry::error) << bad;
}

TEST(novu_settings, invalid_settings_throw) {
  const auto read = [](const char* base, const char* key) {
    return read_settings(
        std::string(R"({"base_url":")") + base + R"(","api_key":")" + key +
        R"(","timeout_seconds":15,"step_conditions":true,"integrations":{"expo":"e1"},"bulk_size":1,"bulk_wait_ms":20})");
  };
  EXPECT_EQ(read("http://h:3000//", "k").base_url, "http://h:3000");
  EXPECT_TRUE(read("http://h", "k").step_conditions);
  EXPECT_EQ(read("http://h", "k").integrations.at("expo"), "e1");
  EXPECT_THROW(read("http://h/v1", "k"), ry::error);
  EXPECT_THROW(read("http://h", "a b"), ry::error);
}

}  // namespace

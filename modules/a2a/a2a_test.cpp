// Parsing of requests, errors, lists, ids and cards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "agent_card.hpp"
#include "binding.hpp"
#include "context_ids.hpp"
#include "errors.hpp"
#include "message_input.hpp"
#include "task_list.hpp"
#include "task_state.hpp"

using namespace a2a;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
namespace json = boost::json;

namespace {

json::object object(std::string_view text) {
  return json::parse(text).as_object();
}

template <class F>
protocol_error error_of(F f) {
  try {
    f();
  } catch (const protocol_error& e) {
    return e;
  }
  ADD_FAILURE() << "no error";
  return internal_error();
}

json::object message(std::string_view parts, std::string_view more = "") {
  return object(R"({"message":{"messageId":"m","role":"ROLE_USER","parts":)" + std::string(parts) + std::string(more) +
                "}}");
}

std::string violated_field(const protocol_error& e) {
  const json::object error = e.rpc_error();
  for (const json::value& detail : error.at("data").as_array())
    if (const json::value* list = detail.as_object().if_contains("fieldViolations"))
      return std::string(list->at(0).at("field").as_string());
  return {};
}

}  // namespace

TEST(send_params, joins_texts_and_data_and_decodes_files) {
  const send_params p = read_send_params(message(
      R"([{"text":"one"},{"data":{"n":[1,2.5]}},{"raw":"aGk=","filename":"a.txt","mediaType":"text/plain"},{"raw":"aGk"},{"text":"two"}])",
      R"(,"contextId":"c","taskId":null)"));
  EXPECT_EQ(p.prompt, "one\n\n{\"n\":[1,2.5E0]}\n\ntwo");
  ASSERT_EQ(p.files.size(), 2u);
  EXPECT_EQ(p.files[0].name, "a.txt");
  EXPECT_EQ(p.files[0].content, "hi");
  EXPECT_EQ(p.files[1].name, "file-2");
  EXPECT_EQ(p.context_id, "c");
  EXPECT_EQ(p.task_id, "");
  EXPECT_FALSE(p.return_immediately);
  EXPECT_FALSE(p.history_length);
}

TEST(send_params, a_message_of_files_has_a_prompt) {
  EXPECT_EQ(read_send_params(message(R"([{"raw":""}])")).prompt, "See the attached file.");
  EXPECT_EQ(read_send_params(message(R"([{"raw":""},{"raw":""},{"text":" "}])")).prompt, "See the attached files.");
}

TEST(send_params, reads_the_configuration) {
  json::object params = message(R"([{"text":"x"}])");
  params["configuration"] = object(R"({"historyLength":"3","returnImmediately":true,"acceptedOutputModes":["a/b"]})");
  const send_params p = read_send_params(params);
  EXPECT_EQ(p.history_length, 3);
  EXPECT_TRUE(p.return_immediately);
  params["configuration"] = object(R"({"taskPushNotificationConfig":{"url":"https://example.org"}})");
  EXPECT_EQ(error_of([&] { read_send_params(params); }).code(), -32003);
}

TEST(send_params, metadata_are_texts) {
  json::object params = message(R"([{"text":"x"}])");
  EXPECT_TRUE(read_send_params(params).metadata.empty());
  params["metadata"] =
      object(R"({"text":"a \"b\"","whole":42,"part":0.25,"flag":true,"none":null,"object":{"a":[1]}})");
  EXPECT_EQ(
      read_send_params(params).metadata,
      object(R"({"text":"a \"b\"","whole":"42","part":"0.25","flag":"true","none":"null","object":"{\"a\":[1]}"})"));
}

TEST(send_params, errors_name_the_field) {
  const std::pair<json::object, const char*> cases[] = {
      {object("{}"), "message"},
      {object(R"({"message":1})"), "message"},
      {message("[]"), "message.parts"},
      {message("[{}]"), "message.parts[0]"},
      {message(R"([{"text":"a"},{"text":"b","data":1}])"), "message.parts[1]"},
      {message(R"([{"raw":"a"}])"), "message.parts[0].raw"},
      {message(R"([{"raw":"aGk=","filename":1}])"), "message.parts[0].filename"},
      {message(R"([{"text":"a"}])", R"(,"contextId":{})"), "message.contextId"},
      {object(R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]},"metadata":[]})"), "metadata"},
  };
  for (const auto& [params, field] : cases) {
    const protocol_error e = error_of([&, &params = params] { read_send_params(params); });
    EXPECT_EQ(e.code(), -32602);
    EXPECT_EQ(violated_field(e), field);
  }
  const protocol_error url = error_of([] { read_send_params(message(R"([{"url":"https://example.org"}])")); });
  EXPECT_EQ(url.code(), -32005);
  EXPECT_EQ(url.reason(), "CONTENT_TYPE_NOT_SUPPORTED");
}

TEST(task_id, other_forms_belong_to_no_task) {
  EXPECT_EQ(error_of([] { read_task_id(object(R"({"id":"x"})")); }).code(), -32001);
  EXPECT_EQ(error_of([] { read_task_id(object("{}")); }).code(), -32602);
  EXPECT_NO_THROW(read_task_id(object(R"({"id":"11111111-1111-4111-8111-111111111111"})")));
}

TEST(rpc, reads_the_id_before_other_errors) {
  json::value id;
  const protocol_version current{"1.0", ""};
  const call c = read_rpc_request(R"({"jsonrpc":"2.0","id":5,"method":"GetTask","params":{"id":"x"}})", current, id);
  EXPECT_EQ(c.what, operation::get_task);
  EXPECT_EQ(id, 5);
  const std::string unknown = R"({"jsonrpc":"2.0","id":"a","method":"message/send","params":{}})";
  EXPECT_EQ(error_of([&] { read_rpc_request(unknown, current, id); }).code(), -32601);
  EXPECT_EQ(id, "a");
  EXPECT_EQ(error_of([&] { read_rpc_request(unknown, {}, id); }).code(), -32009);
  EXPECT_EQ(error_of([&] { read_rpc_request("[]", current, id); }).code(), -32600);
  EXPECT_EQ(error_of([&] { read_rpc_request("{", current, id); }).code(), -32700);
  EXPECT_EQ(error_of([&] { read_rpc_request(std::string(100, '['), current, id); }).code(), -32700);
}

TEST(version, accepts_the_header_or_the_query) {
  EXPECT_NO_THROW(require_version({"1.0", ""}));
  EXPECT_NO_THROW(require_version({"", "1.0"}));
  EXPECT_NO_THROW(require_version({"1.0.3", ""}));
  for (const char* other : {"", "0.3", "1", "1.1", "10", "2.0"}) {
    const protocol_error e = error_of([&] { require_version({other, ""}); });
    EXPECT_EQ(e.code(), -32009) << other;
  }
}

TEST(errors, have_the_form_of_the_binding) {
  const protocol_error e = task_not_found("abc");
  const auto rpc = binding::json_rpc(7).response(e);
  EXPECT_EQ(rpc.status(), 200u);
  EXPECT_EQ(json::parse(rpc.body()).at("error").at("data").at(0).at("reason"), "TASK_NOT_FOUND");
  EXPECT_EQ(json::parse(rpc.body()).at("id"), 7);
  const auto rest = binding::http_json().response(e);
  EXPECT_EQ(rest.status(), 404u);
  EXPECT_EQ(json::parse(rest.body()).at("error").at("status"), "NOT_FOUND");
  EXPECT_THAT(binding::http_json().event(e), HasSubstr("event: error\ndata: {\"error\""));
  EXPECT_THAT(binding::json_rpc(1).event(e), Not(HasSubstr("event:")));
}

TEST(errors, of_services_keep_status_and_code_but_no_internal_text) {
  const auto refused =
      from_service(ry::http_error(402, RY_RESOURCE_EXHAUSTED, "runs.refused", "Insufficient credits",
                                  R"({"message":"Insufficient credits","error_code":"INSUFFICIENT_CREDITS"})"));
  EXPECT_EQ(refused.code(), -32000);
  EXPECT_EQ(refused.rpc_http_status(), 402u);
  EXPECT_EQ(refused.reason(), "INSUFFICIENT_CREDITS");
  const auto limited = from_service(ry::http_error(429, RY_RESOURCE_EXHAUSTED, "", "slow").with_retry_after(9));
  EXPECT_EQ(limited.rpc_http_status(), 429u);
  const auto response = binding::json_rpc(1).response(limited);
  EXPECT_THAT(response.fields(), testing::Contains(testing::Pair("Retry-After", "9")));
  EXPECT_THAT(response.body(), HasSubstr("RetryInfo"));
  const auto broken = from_service(ry::internal("db", "password of the database"));
  EXPECT_EQ(broken.message(), "Internal error");
  const auto invalid = from_service(ry::bad_request("x", "bad"));
  EXPECT_EQ(invalid.code(), -32602);
  EXPECT_EQ(invalid.rpc_http_status(), 200u);
  EXPECT_EQ(from_service(ry::error(RY_CANCELLED)).http_status(), 503u);
}

TEST(rest, splits_the_last_segment) {
  EXPECT_EQ(read_task_segment("a:cancel"), std::pair(std::string("a"), std::string("cancel")));
  EXPECT_EQ(read_task_segment("a"), std::pair(std::string("a"), std::string()));
}

TEST(list, reads_and_limits_parameters) {
  const list_params p = read_list_params(object(
      R"({"pageSize":"5","status":"TASK_STATE_WORKING","includeArtifacts":"true","statusTimestampAfter":"2026-11-20T09:30:00Z"})"));
  EXPECT_EQ(p.page_size, 5);
  EXPECT_TRUE(p.include_artifacts);
  EXPECT_EQ(p.history_length, 0);
  EXPECT_EQ(read_list_params({}).page_size, 50);
  EXPECT_EQ(read_list_params(object(R"({"includeArtifacts":true})")).page_size, 20);
  for (const char* bad : {R"({"pageSize":0})", R"({"pageSize":101})", R"({"pageSize":"x"})", R"({"status":"RUNNING"})",
                          R"({"historyLength":-1})", R"({"statusTimestampAfter":"yesterday"})", R"({"contextId":5})"})
    EXPECT_EQ(error_of([&] { read_list_params(object(bad)); }).code(), -32602) << bad;
}

TEST(list, selects_by_agent_state_and_time) {
  const json::object run = object(
      R"({"status":"running","queue_position":null,"agent_id":"a","started_at":"2026-11-20T09:30:00.500Z","completed_at":null})");
  list_params p;
  EXPECT_TRUE(is_listed(p, "", run));
  EXPECT_TRUE(is_listed(p, "a", run));
  EXPECT_FALSE(is_listed(p, "b", run));
  p.status = "TASK_STATE_SUBMITTED";
  EXPECT_FALSE(is_listed(p, "", run));
  p.status = "TASK_STATE_WORKING";
  p.changed_after_us = parse_time("2026-11-20T09:30:00.5Z");
  EXPECT_TRUE(is_listed(p, "", run));
  p.changed_after_us = parse_time("2026-11-20T10:30:00.501+01:00");
  EXPECT_FALSE(is_listed(p, "", run));
  EXPECT_FALSE(run_status_of("TASK_STATE_REJECTED"));
  EXPECT_EQ(run_status_of("TASK_STATE_CANCELED"), "stopped");
}

TEST(times, are_parsed_and_formatted) {
  EXPECT_EQ(parse_time("1970-01-01T00:00:01.25Z"), 1'250'000);
  EXPECT_EQ(parse_time("1970-01-01T01:00:00+01:00"), 0);
  EXPECT_EQ(format_time(*parse_time("2026-02-28T23:59:59.123456Z")), "2026-02-28T23:59:59.123Z");
  for (const char* bad : {"", "2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T24:00:00Z",
                          "2026-01-01T00:00:00.Z", "2026-01-01 00:00:00Z", "-026-01-01T00:00:00Z"})
    EXPECT_FALSE(parse_time(bad)) << bad;
}

TEST(context_ids, depend_on_the_account_and_never_collide) {
  const ry::uuid ann = *ry::uuid::parse("11111111-1111-4111-8111-111111111111");
  const ry::uuid bob = *ry::uuid::parse("22222222-2222-4222-8222-222222222222");
  EXPECT_EQ(thread_of_context(ann, "x"), thread_of_context(ann, "x"));
  EXPECT_FALSE(thread_of_context(ann, "x") == thread_of_context(bob, "x"));
  EXPECT_FALSE(thread_of_context(ann, "x") == thread_of_context(ann, "y"));
  EXPECT_TRUE(may_have_name(thread_of_context(ann, "x")));
  EXPECT_FALSE(may_have_name(ann));
  EXPECT_NE(key_of_message("", "a", "bc"), key_of_message("", "ab", "c"));
  EXPECT_LE(key_of_message("", std::string(256, 'x'), std::string(256, 'y')).size(), 255u);
}

TEST(card, has_the_required_members) {
  const json::object card = agent_card({"A", "", "3", "https://x/a2a", "https://x/a2a/v1"});
  for (const char* member : {"name", "description", "supportedInterfaces", "version", "capabilities",
                             "defaultInputModes", "defaultOutputModes", "skills"})
    EXPECT_TRUE(card.contains(member)) << member;
  EXPECT_EQ(card.at("description"), "A");
  EXPECT_EQ(card.at("securityRequirements").at(0).at("schemes").at("bearer").at("list").as_array().size(), 0u);
}

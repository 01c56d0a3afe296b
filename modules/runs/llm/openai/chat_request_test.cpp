#include "chat_request.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "request.hpp"

namespace {

namespace json = boost::json;

json::object build(const char* neutral, const openai::request_options& o = {}) {
  return json::parse(openai::build_request(llm::parse_request(neutral), o)).as_object();
}

TEST(chat_request, reasoning_goes_back_within_its_turn_when_wished) {
  constexpr char neutral[] = R"({"model":"m","messages":[
    {"role":"user","content":"a"},
    {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{}}],"reasoning":[{"driver":"openai","model":"m","reasoning_content":"old"}]},
    {"role":"tool","tool_call_id":"1","name":"f","content":"x"},
    {"role":"user","content":"b"},
    {"role":"assistant","content":"","tool_calls":[{"id":"2","name":"f","arguments":{}}],"reasoning":[{"driver":"openai","model":"other","reasoning_content":"no"},{"driver":"openai","model":"m","reasoning_content":"new"}]},
    {"role":"tool","tool_call_id":"2","name":"f","content":"x"}]})";
  openai::request_options o;
  EXPECT_EQ(json::serialize(build(neutral, o)).find("reasoning"), std::string::npos);
  o.send_reasoning = true;
  const auto body = build(neutral, o);
  EXPECT_FALSE(body.at("messages").at(1).as_object().contains("reasoning_content"));
  EXPECT_EQ(body.at("messages").at(4).at("reasoning_content"), "new");
}

TEST(chat_request, builds_every_kind_of_message) {
  const auto o =
      build(R"({"model":"gpt","system":"be brief","max_output_tokens":7,"temperature":0.5,
    "stop":["X"],"tools":[{"name":"f","description":"d","parameters":{"type":"object"}},{"name":"g"}],
    "messages":[
     {"role":"user","content":[{"type":"text","text":"look"},{"type":"image","media_type":"image/png","data":"QUJD"}]},
     {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{"a":[1,"x"]}},{"id":"2","name":"g","arguments":"broken"}]},
     {"role":"tool","tool_call_id":"1","name":"f","content":[{"type":"text","text":"seen"},{"type":"image","media_type":"image/jpeg","data":"REVG"}]},
     {"role":"tool","tool_call_id":"2","name":"g","content":"bad","is_error":true},
     {"role":"assistant","content":"done"},
     {"role":"user","content":"more"}]})");
  EXPECT_EQ(json::value(o), json::parse(R"({"model":"gpt","stream":true,
    "stream_options":{"include_usage":true},"max_tokens":7,"temperature":0.5,"stop":["X"],
    "tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}},
             {"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],
    "messages":[{"role":"system","content":"be brief"},
     {"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},
     {"role":"assistant","content":null,"tool_calls":[
       {"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":[1,\"x\"]}"}},
       {"id":"2","type":"function","function":{"name":"g","arguments":"broken"}}]},
     {"role":"tool","tool_call_id":"1","content":"seen"},
     {"role":"tool","tool_call_id":"2","content":"Error: bad"},
     {"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,REVG"}}]},
     {"role":"assistant","content":"done"},
     {"role":"user","content":"more"}]})"));
}

TEST(chat_request, obeys_its_options) {
  openai::request_options o;
  o.max_tokens_field = "max_completion_tokens";
  o.stream_usage = false;
  o.extra_body = {{"reasoning_effort", "low"}, {"model", "ignored"}};
  EXPECT_EQ(
      json::value(build(
          R"({"model":"m","max_output_tokens":3,"messages":[{"role":"user","content":"x"}]})", o)),
      json::parse(R"({"model":"m","reasoning_effort":"low","stream":true,"max_completion_tokens":3,
                            "messages":[{"role":"user","content":"x"}]})"));
}

TEST(chat_request, refuses_what_is_no_request) {
  for (const char* bad : {"", "[]", "{}", R"({"model":"m"})", R"({"model":"m","messages":[]})",
                          R"({"messages":[{"role":"user"}]})", R"({"model":"m","messages":[7]})",
                          R"({"model":"m","messages":[{"role":"system","content":"x"}]})",
                          R"({"model":"m","messages":[{"role":"assistant","tool_calls":[1]}]})",
                          R"({"model":"m","messages":[{"role":"user"}],"tools":[1]})"})
    EXPECT_THROW(build(bad), llm::bad_request) << bad;
}

}  // namespace

#include "messages_request.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "request.hpp"

namespace {

namespace json = boost::json;

json::value build(const char* neutral, const anthropic::request_options& o = {}) {
  return json::parse(anthropic::build_request(llm::parse_request(neutral), o));
}

constexpr char thoughtful[] = R"({"model":"m","messages":[
  {"role":"user","content":"go"},
  {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{}}],"reasoning":[
    {"driver":"anthropic","model":"m","type":"thinking","thinking":"hm","signature":"s=="},
    {"driver":"anthropic","model":"m","type":"redacted_thinking","data":"xx"},
    {"driver":"anthropic","model":"other","type":"thinking","thinking":"no","signature":"t"},
    {"driver":"openai","model":"m","reasoning_content":"no"}]},
  {"role":"tool","tool_call_id":"1","name":"f","content":"done"}]})";

TEST(messages_request, thoughts_of_this_model_go_back_before_its_calls) {
  anthropic::request_options o;
  o.extra_body = json::parse(R"({"thinking":{"type":"enabled","budget_tokens":1024}})").as_object();
  const auto body = build(thoughtful, o);
  EXPECT_EQ(body.at("messages").at(1).at("content"), json::parse(R"([
    {"type":"thinking","thinking":"hm","signature":"s=="},{"type":"redacted_thinking","data":"xx"},
    {"type":"tool_use","id":"1","name":"f","input":{}}])"));
  EXPECT_TRUE(body.as_object().contains("thinking"));
  const auto plain = build(thoughtful);
  EXPECT_EQ(plain.at("messages").at(1).at("content").as_array().size(), 1u) << "thinking is not switched on";
}

TEST(messages_request, a_turn_that_began_without_thinking_goes_on_without) {
  anthropic::request_options o;
  o.extra_body = json::parse(R"({"thinking":{"type":"enabled","budget_tokens":1024}})").as_object();
  const auto body = build(R"({"model":"m","messages":[{"role":"user","content":"go"},
    {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{}}]},
    {"role":"tool","tool_call_id":"1","name":"f","content":"x"}]})", o);
  EXPECT_FALSE(body.as_object().contains("thinking"));
  const auto next = build(R"({"model":"m","messages":[{"role":"user","content":"go"},
    {"role":"assistant","content":"done"},{"role":"user","content":"more"}]})", o);
  EXPECT_TRUE(next.as_object().contains("thinking"));
}

TEST(messages_request, builds_every_kind_of_message) {
  anthropic::request_options older;
  older.temperature = anthropic::sampling::send;
  EXPECT_EQ(build(R"({"model":"claude","system":"be brief","temperature":1,"stop":["X"],
    "tools":[{"name":"f","description":"d","parameters":{"type":"object"}}],
    "messages":[
     {"role":"user","content":[{"type":"text","text":"look"},{"type":"image","media_type":"image/png","data":"QUJD"}]},
     {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{"a":1}},{"id":"2","name":"f","arguments":"broken"}]},
     {"role":"tool","tool_call_id":"1","name":"f","content":"seen"},
     {"role":"tool","tool_call_id":"2","name":"f","content":"bad","is_error":true},
     {"role":"user","content":"go on"},
     {"role":"assistant","content":"done"}]})",
                  older),
            json::parse(R"({"model":"claude","stream":true,"max_tokens":8192,"system":"be brief",
    "temperature":1,"stop_sequences":["X"],
    "tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}],
    "messages":[
     {"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]},
     {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{"a":1}},{"type":"tool_use","id":"2","name":"f","input":{}}]},
     {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"seen"},
       {"type":"tool_result","tool_use_id":"2","content":"bad","is_error":true},{"type":"text","text":"go on"}]},
     {"role":"assistant","content":[{"type":"text","text":"done"}]}]})"));
}

TEST(messages_request, limits_and_first_turn) {
  anthropic::request_options o;
  o.max_tokens = 5;
  EXPECT_EQ(
      build(R"({"model":"m","messages":[{"role":"user","content":"x"}]})", o).at("max_tokens"), 5);
  const auto v = build(
      R"({"model":"m","max_output_tokens":9,"temperature":0.5,"messages":[{"role":"assistant","content":"x"},{"role":"user","content":"y"}]})");
  EXPECT_EQ(v.at("max_tokens"), 9);
  EXPECT_FALSE(v.as_object().contains("temperature"));
  EXPECT_EQ(v.at("messages").at(0).at("role"), "user");
  EXPECT_EQ(v.at("messages").as_array().size(), 3u);
}

TEST(messages_request, refuses_what_is_no_request) {
  for (const char* bad : {"", "{}", R"({"model":"m","messages":[{"role":"user","content":""}]})",
                          R"({"model":"m","messages":[{"role":"assistant","tool_calls":[1]}]})"})
    EXPECT_THROW(build(bad), llm::bad_request) << bad;
}

}  // namespace

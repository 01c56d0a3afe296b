#include "ui_messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/types.hpp>

#include "chat_id.hpp"
#include "data_url.hpp"

using testing::HasSubstr;

namespace {

namespace json = boost::json;

json::array messages(const char* text) {
  return json::parse(text).as_array();
}

std::string problem_of(const char* text) {
  try {
    (void)aisdk::read_turn(messages(text));
  } catch (const ry::error& e) {
    EXPECT_EQ(e.http_status(), 422u);
    return std::string(e.message());
  }
  return "none";
}

}  // namespace

TEST(ui_messages, the_newest_user_message_is_the_turn) {
  const aisdk::turn t = aisdk::read_turn(messages(R"([
    {"role":"system","parts":[{"type":"text","text":"s1"}]},
    {"role":"user","parts":[{"type":"text","text":"old"}]},
    {"role":"user","parts":[{"type":"text","text":"a"},{"type":"data-x","data":1},{"type":"text","text":"b"},
      {"type":"file","mediaType":"image/png","url":"data:image/png;base64,aGk="}]}])"));
  EXPECT_EQ(t.prompt, "a\nb");
  EXPECT_EQ(t.instructions, "s1");
  ASSERT_EQ(t.files.size(), 1u);
  EXPECT_EQ(t.files[0].name, "attachment-1.png");
  EXPECT_EQ(t.files[0].content, "hi");
  EXPECT_FALSE(t.continues_message);
}

TEST(ui_messages, outputs_are_those_of_client_tools_in_the_last_step) {
  const char* assistant = R"({"id":"m","role":"assistant","parts":[
    {"type":"step-start"},{"type":"tool-a","toolCallId":"0","state":"output-available","output":1},
    {"type":"step-start"},
    {"type":"dynamic-tool","toolName":"s","toolCallId":"1","state":"output-available","output":"x","providerExecuted":true},
    {"type":"tool-a","toolCallId":"2","state":"output-available","output":{"k":1}},
    {"type":"tool-a","toolCallId":"3","state":"output-error","errorText":"no"},
    {"type":"tool-a","toolCallId":"4","state":"output-denied"},
    {"type":"tool-a","toolCallId":"5","state":"input-available","input":{}},
    {"type":"tool-a","toolCallId":"6","state":"output-available","output":"y","preliminary":true},
    {"type":"tool-a","toolCallId":"7","state":"output-available","output":"text"}]})";
  const aisdk::turn t = aisdk::read_turn(messages(("[" + std::string(assistant) + "]").c_str()));
  EXPECT_TRUE(t.continues_message);
  EXPECT_EQ(t.message_id, "m");
  ASSERT_EQ(t.outputs.size(), 4u);
  EXPECT_EQ(t.outputs[0].content, R"({"k":1})");
  EXPECT_EQ(t.outputs[1].content, "no");
  EXPECT_TRUE(t.outputs[1].is_error);
  EXPECT_TRUE(t.outputs[2].is_error);
  EXPECT_EQ(t.outputs[3].content, "text");
  const std::string with_user =
      "[" + std::string(assistant) + R"(,{"role":"user","parts":[{"type":"text","text":"p"}]}])";
  EXPECT_EQ(aisdk::read_turn(messages(with_user.c_str())).outputs.size(), 4u);
}

TEST(ui_messages, the_history_has_calls_only_with_their_results) {
  const json::array h = aisdk::history_of(messages(R"([
    {"role":"system","parts":[{"type":"text","text":"s"}]},
    {"role":"user","parts":[{"type":"text","text":"q"},{"type":"file","mediaType":"image/png","filename":"p.png","url":"x"}]},
    {"role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"r"},{"type":"text","text":"t"},
      {"type":"tool-a","toolCallId":"1","state":"output-available","input":{"x":1},"output":"o"},
      {"type":"tool-a","toolCallId":"2","state":"input-available","input":{}},
      {"type":"step-start"},{"type":"text","text":"end"}]},
    {"role":"user","parts":[{"type":"text","text":"newest"}]}])"));
  EXPECT_EQ(json::serialize(h),
            R"([{"role":"user","content":"q\n[File: p.png]"},)"
            R"({"role":"assistant","content":"t","tool_calls":[{"id":"1","name":"a","arguments":{"x":1}}]},)"
            R"({"role":"tool","tool_call_id":"1","name":"a","content":"o","is_error":false},)"
            R"({"role":"assistant","content":"end"}])");
  EXPECT_EQ(aisdk::history_of(messages(R"([{"role":"assistant","parts":[{"type":"text","text":"x"}]}])")).size(), 1u);
}

TEST(ui_messages, malformed_messages_are_named) {
  EXPECT_EQ(problem_of("[1]"), "messages[0] must be an object");
  EXPECT_THAT(problem_of(R"([{"role":"tool","parts":[]}])"), HasSubstr("messages[0].role must be"));
  EXPECT_EQ(problem_of(R"([{"role":"user","parts":{}}])"), "messages[0].parts must be an array");
  EXPECT_EQ(problem_of(R"([{"role":"user","parts":[{"type":5}]}])"),
            "messages[0].parts[0] must be an object with a type");
  EXPECT_EQ(problem_of(R"([{"role":"user","parts":[{"type":"file","url":"http://x/y"}]}])"),
            "messages[0].parts[0].url must be a valid data URL");
  EXPECT_THAT(problem_of(R"([{"role":"system","parts":[]}])"), HasSubstr("must be user or assistant"));
}

TEST(ui_messages, outputs_as_text_and_back) {
  EXPECT_EQ(aisdk::output_text(json::value("x")), "x");
  EXPECT_EQ(aisdk::output_text(json::parse("[1,null]")), "[1,null]");
  EXPECT_TRUE(aisdk::output_value(" {\"a\":1}").is_object());
  EXPECT_EQ(aisdk::output_value("{not json").as_string(), "{not json");
  EXPECT_EQ(aisdk::output_value("17").as_string(), "17");
  EXPECT_EQ(aisdk::output_value("").as_string(), "");
}

TEST(data_urls, are_decoded_strictly) {
  const auto plain = aisdk::parse_data_url("data:text/plain;charset=utf-8,a%20b+c");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->media_type, "text/plain");
  EXPECT_EQ(plain->content, "a b+c");
  EXPECT_EQ(aisdk::parse_data_url("DATA:image/PNG;BASE64,aGk")->content, "hi");
  EXPECT_EQ(aisdk::parse_data_url("data:,")->content, "");
  for (const char* bad : {"", "data:", "data:text/plain", "http://x", "data:a;base64,@@", "data:,%", "data:,%zz"})
    EXPECT_FALSE(aisdk::parse_data_url(bad)) << bad;
}

TEST(chat_ids, depend_on_account_and_chat) {
  const ry::uuid a = *ry::uuid::parse("11111111-1111-4111-8111-111111111111");
  const ry::uuid b = *ry::uuid::parse("22222222-2222-4222-8222-222222222222");
  const auto first = aisdk::ids_of_chat(a, "x");
  EXPECT_EQ(first.thread, aisdk::ids_of_chat(a, "x").thread);
  EXPECT_FALSE(first.thread == first.project);
  EXPECT_FALSE(first.thread == aisdk::ids_of_chat(b, "x").thread);
  EXPECT_FALSE(first.thread == aisdk::ids_of_chat(a, "y").thread);
  EXPECT_EQ(first.thread.to_string()[14], '8');
  // The ids of a chat must never change, because its thread is found only by them.
  EXPECT_EQ(first.thread.to_string(), "7bef825f-bc3b-894e-abea-27c715af0b64");
}

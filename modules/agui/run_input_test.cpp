#include "run_input.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/types.hpp>

#include "ids.hpp"

namespace agui {
namespace {

namespace json = boost::json;

const std::string earlier_run = "01a22056-2d40-7ade-8c07-930cfe2194fb";
const std::string user_message = R"({"id":"u","role":"user","content":"hi"})";

run_input read(const std::string& messages, const std::string& more = "", input_use use = input_use::run) {
  return read_run_input(R"({"threadId":"t","runId":"r","messages":[)" + messages + "]" + more + "}", use);
}
std::string field(const run_input& in, std::string_view name) {
  for (const auto& [key, value] : in.fields)
    if (key == name) return value;
  return {};
}
std::string problem(const std::string& messages, const std::string& more = "") {
  try {
    (void)read(messages, more);
  } catch (const ry::error& e) {
    return std::to_string(e.http_status()) + " " + std::string(e.message());
  }
  return "accepted";
}

TEST(run_input, the_last_user_message_is_the_prompt_and_the_rest_is_history) {
  const run_input in = read(
      R"({"id":"s","role":"system","content":"be kind"},{"id":"1","role":"user","content":"a"},)"
      R"({"id":"2","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},)"
      R"({"id":"3","role":"tool","toolCallId":"c","content":"r","error":"bad"},{"id":"4","role":"reasoning","content":"z"},)"
      R"({"id":"5","role":"assistant","content":"b"},)" +
      user_message);
  EXPECT_EQ(field(in, "prompt"), "hi");
  EXPECT_EQ(field(in, "history"),
            R"([{"role":"user","content":"a"},)"
            R"({"role":"assistant","content":"","tool_calls":[{"id":"c","name":"f","arguments":{"x":1}}]},)"
            R"({"role":"tool","tool_call_id":"c","name":"f","content":"r","is_error":true},)"
            R"({"role":"assistant","content":"b"}])");
  EXPECT_EQ(field(in, "instructions"), "be kind");
  EXPECT_EQ(field(in, "tool_results"), "");
  EXPECT_EQ(json::parse(in.base_messages).as_array().size(), 6u) << "without reasoning";
}

TEST(run_input, results_of_the_client_and_not_those_of_the_server) {
  const std::string server = tool_call_id(earlier_run, 1, "s"), client = tool_call_id(earlier_run, 1, "c");
  const std::string tools = R"({"id":")" + tool_message_id(server) + R"(","role":"tool","toolCallId":")" + server +
                            R"(","content":"no"},{"id":"mine","role":"tool","toolCallId":")" + client +
                            R"(","content":"yes"})";
  const std::string answered =
      user_message + R"(,{"id":")" + message_id(earlier_run, 1) + R"(","role":"assistant"},)" + tools;
  const run_input in = read(answered);
  EXPECT_EQ(field(in, "tool_results"), R"([{"tool_call_id":"c","content":"yes","is_error":false}])");
  EXPECT_EQ(field(in, "prompt"), "");
  const run_input both = read(answered + "," + user_message);
  EXPECT_EQ(field(both, "tool_results"), field(in, "tool_results"));
  EXPECT_EQ(field(both, "prompt"), "hi");
}

TEST(run_input, output_of_a_run_at_the_end_means_that_the_client_follows_it) {
  const std::string one = R"({"id":")" + message_id(earlier_run, 1) + R"(","role":"assistant","content":"x"})";
  const std::string two = R"({"id":")" + message_id(earlier_run, 2) + R"(","role":"assistant","content":"y"})";
  const std::string call = tool_call_id(earlier_run, 1, "s");
  const std::string tool =
      R"({"id":")" + tool_message_id(call) + R"(","role":"tool","toolCallId":")" + call + R"(","content":"r"})";
  const run_input in = read(user_message + "," + one + "," + tool + "," + two);
  EXPECT_EQ(in.attach_run, earlier_run);
  EXPECT_EQ(in.base_messages, "[" + user_message + "]");
  EXPECT_EQ(read(user_message + "," + one + "," + user_message).attach_run, "");
  EXPECT_EQ(problem(user_message + R"(,{"id":"a","role":"assistant","content":"x"})"),
            "422 messages must end with a user message or with results of the client's tools");
}

TEST(run_input, the_same_body_gives_the_same_fields) {
  const std::string body =
      R"({"id":"1","role":"user","content":"a"},{"id":"2","role":"assistant","content":"b"},)" + user_message;
  EXPECT_EQ(read(body).fields, read(body).fields);
}

TEST(run_input, a_long_history_keeps_the_newest_messages_and_begins_with_a_user_message) {
  std::string messages;
  for (int i = 0; i < 700; ++i)
    messages += R"({"id":"a","role":"user","content":"q)" + std::to_string(i) +
                R"("},{"id":"b","role":"assistant","content":"a"},)";
  const run_input in = read(messages + user_message);
  const json::array history = json::parse(field(in, "history")).as_array();
  EXPECT_EQ(history.size(), 1000u);
  EXPECT_EQ(json::serialize(history.front()), R"({"role":"user","content":"q200"})");
  const std::string large(600 << 10, 'x');
  const run_input big = read(R"({"id":"a","role":"user","content":")" + large +
                             R"("},{"id":"b","role":"user","content":")" + large + R"("},)" + user_message);
  EXPECT_EQ(json::parse(field(big, "history")).as_array().size(), 1u);
  EXPECT_EQ(big.base_messages, "") << "too large to be kept";
}

TEST(run_input, parts_of_a_user_message) {
  const run_input in = read(
      R"({"id":"u","role":"user","content":[{"type":"text","text":"look"},)"
      R"({"type":"image","source":{"type":"data","value":"aGk=","mimeType":"image/png"}},)"
      R"({"type":"document","source":{"type":"url","value":"https://x/y"}},{"type":"audio","source":{"type":"file","value":"f"}},)"
      R"({"type":"sticker"}]})");
  EXPECT_EQ(field(in, "prompt"), "look\n[document: https://x/y]");
  ASSERT_EQ(in.files.size(), 1u);
  EXPECT_EQ(in.files[0].name, "image-1.png");
  EXPECT_EQ(in.files[0].content, "hi");
  EXPECT_EQ(in.notices.size(), 2u);
  EXPECT_EQ(
      field(
          read(
              R"({"id":"u","role":"user","content":[{"type":"image","source":{"type":"data","value":"aGk=","mimeType":"a/b"}}]})"),
          "prompt"),
      "See the attached files.");
}

TEST(run_input, tools_context_and_options) {
  const run_input in = read(
      user_message, R"(,"tools":[{"name":"f","description":"d","parameters":{"type":"object"}}],)"
                    R"("context":[{"description":"d","value":"v"}],"protocolVersion":"1.0",)"
                    R"("forwardedProps":{"runyard":{"mode":"chat","budget_credits":1.5,"queue":true,"top_p":null}})");
  EXPECT_EQ(field(in, "client_tools"), R"([{"name":"f","description":"d","parameters":{"type":"object"}}])");
  EXPECT_EQ(field(in, "instructions"),
            "Context of the application, as JSON:\n[{\"description\":\"d\",\"value\":\"v\"}]");
  EXPECT_EQ(field(in, "mode"), "chat");
  EXPECT_EQ(field(in, "budget_credits"), "1.5");
  EXPECT_EQ(field(in, "queue"), "true");
  EXPECT_FALSE(in.has("top_p"));
  EXPECT_TRUE(in.outcomes);
}

TEST(run_input, errors_name_the_member) {
  EXPECT_EQ(problem(""), "422 messages must contain a user message");
  EXPECT_EQ(problem("42"), "422 messages[0] must be an object");
  EXPECT_EQ(problem(user_message, R"(,"tools":{})"), "422 tools must be an array");
  EXPECT_EQ(problem(user_message, R"(,"context":[{"description":"d"}])"), "422 context[0].value must be a string");
  EXPECT_EQ(problem(user_message, R"(,"forwardedProps":{"runyard":{"thread_id":"x"}})"),
            "422 forwardedProps.runyard.thread_id is not a known option");
  EXPECT_THROW((void)read_run_input("{", input_use::run), ry::error);
  EXPECT_THROW((void)read_run_input("[]", input_use::run), ry::error);
  EXPECT_NO_THROW((void)read("", "", input_use::connect));
}

TEST(ids, derived_ids_depend_on_account_kind_and_name) {
  const ry::uuid a = *ry::uuid::parse(earlier_run), b = *ry::uuid::parse("11111111-1111-4111-8111-111111111111");
  const std::string made = derived_uuid(a, "thread", "x").to_string();
  EXPECT_EQ(made, derived_uuid(a, "thread", "x").to_string());
  EXPECT_EQ(made[14], '5');
  EXPECT_NE(made, derived_uuid(b, "thread", "x").to_string());
  EXPECT_NE(made, derived_uuid(a, "project", "x").to_string());
  EXPECT_NE(made, derived_uuid(a, "thread", "y").to_string());
}

TEST(ids, foreign_ids_are_unchanged) {
  for (const std::string& id : {std::string("call_0"), earlier_run, earlier_run + ".", earlier_run + ".x.call.y",
                                earlier_run + ".1x", std::string()}) {
    EXPECT_EQ(stored_call_id(id), id);
    EXPECT_FALSE(run_of_id(id)) << id;
  }
  EXPECT_EQ(stored_call_id(tool_call_id(earlier_run, 12, "a.call.b")), "a.call.b");
  EXPECT_EQ(run_of_id(tool_message_id(tool_call_id(earlier_run, 1, "x"))), earlier_run);
}

const std::string interrupt = "02a22056-2d40-7ade-8c07-930cfe2194fb";
std::string resume(const std::string& more) {
  return R"(,"resume":[{"interruptId":")" + interrupt + "\"," + more + "}]";
}

TEST(run_input, responses_to_interrupts_become_decisions) {
  const auto decision = [](const std::string& more) { return read(user_message, resume(more)).resume.at(0).decision; };
  EXPECT_EQ(decision(R"("status":"resolved","payload":{"approved":true})"), R"({"decision":"approve"})");
  EXPECT_EQ(decision(R"("status":"resolved","payload":{"approved":false,"reason":"no","editedArgs":{"a":1},"x":1})"),
            R"({"decision":"deny","reason":"no"})");
  EXPECT_EQ(decision(R"("status":"resolved","payload":{"approved":true,"editedArgs":{"a":1},"remember":"run"})"),
            R"({"decision":"approve","arguments":{"a":1},"remember":"run"})");
  EXPECT_EQ(decision(R"("status":"cancelled")"), R"({"decision":"deny"})");
  EXPECT_TRUE(read(user_message, resume(R"("status":"cancelled")")).resume.at(0).cancelled);
}

TEST(run_input, invalid_responses_to_interrupts_name_the_member) {
  const auto rejected = [](const std::string& more) { return problem(user_message, resume(more)); };
  EXPECT_EQ(problem(user_message, R"(,"resume":[{"interruptId":"i","status":"resolved"}])"),
            "422 resume[0].interruptId is not an interrupt of this thread");
  EXPECT_EQ(rejected(R"("status":"done")"), "422 resume[0].status must be resolved or cancelled");
  EXPECT_EQ(rejected(R"("status":"resolved")"), "422 resume[0].payload must be an object");
  EXPECT_EQ(rejected(R"("status":"resolved","payload":{"approved":1})"),
            "422 resume[0].payload.approved must be a boolean");
  EXPECT_EQ(rejected(R"("status":"resolved","payload":{"approved":true,"editedArgs":[]})"),
            "422 resume[0].payload.editedArgs must be an object");
  EXPECT_EQ(rejected(R"("status":"resolved","payload":{"approved":true,"reason":7})"),
            "422 resume[0].payload.reason must be a string");
  const std::string entry = R"({"interruptId":")" + interrupt + R"(","status":"cancelled"})";
  EXPECT_EQ(problem(user_message, ",\"resume\":[" + entry + "," + entry + "]"),
            "422 resume[1].interruptId occurs twice");
}

TEST(run_input, a_request_that_continues_a_run_uses_only_ids_of_its_messages) {
  const std::string call = tool_call_id(earlier_run, 2, "c");
  const run_input in = read(user_message + R"(,{"id":")" + message_id(earlier_run, 1) +
                                R"(","role":"assistant","content":"x"},{"id":")" + message_id(earlier_run, 2) +
                                R"(","role":"assistant","content":"y"},{"id":")" + tool_message_id(call) +
                                R"(","role":"tool","toolCallId":")" + call + R"(","content":"r"})",
                            resume(R"("status":"cancelled")"));
  EXPECT_EQ(in.answer_run, earlier_run);
  EXPECT_TRUE(in.tool_messages.contains(tool_message_id(call)));
  EXPECT_EQ(in.base_messages, "[" + user_message + "]");
  EXPECT_TRUE(in.fields.empty());
  EXPECT_TRUE(read("", resume(R"("status":"cancelled")")).base_messages.empty());
  EXPECT_EQ(read(user_message, resume(R"("status":"cancelled")")).notices.size(), 1u);
}

}  // namespace
}  // namespace agui

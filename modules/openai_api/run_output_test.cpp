#include "test_events.hpp"

using namespace openai_api;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(response_builder, ends) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"status","status":"failed","reason":"llm_error","error":"The model failed"})", "failed"},
      {R"({"type":"status","status":"failed","reason":"length"})", "incomplete"},
      {R"({"type":"status","status":"failed","reason":"content_filter"})", "incomplete"},
      {R"({"type":"status","status":"stopped","reason":"user_stop"})", "cancelled"}};
  for (const auto& [event, status] : cases) {
    response_builder b = builder();
    const auto events = apply(b, {{1, running}, {2, answer_1}, {3, hello}, {4, event}});
    EXPECT_EQ(b.response().at("status").as_string(), status) << event;
    EXPECT_EQ(events.back().at("response").at("output").as_array()[0].at("status").as_string(), "incomplete");
  }
  response_builder b = builder();
  apply(b, {{1, running}, {2, cases[0].first}});
  EXPECT_EQ(json::serialize(b.response().at("error")), R"({"code":"server_error","message":"The model failed"})");
}

const std::string invalid_answer = R"({"type":"llm_response_chunk","content":"The city is Paris."})";
const std::string correction =
    R"({"type":"error","message":"The output does not match output_schema: x","error_code":"OUTPUT_INVALID","recoverable":true})";
const std::string valid_output = R"({"type":"status","status":"completed","reason":"ok","output":{"city":"Paris"}})";
const std::string invalid_output =
    R"({"type":"status","status":"failed","reason":"output_invalid","error":"The output does not match output_schema: x"})";
const numbered corrected = {{1, running},
                            {2, answer_1},
                            {3, invalid_answer},
                            {4, end_stop},
                            {5, correction},
                            {6, R"({"type":"llm_response_start","step":2,"attempt":1})"},
                            {7, R"({"type":"llm_response_chunk","content":"```json\n{\"city\": \"Paris\"}\n```"})"},
                            {8, end_stop}};

response_builder output_builder() {
  response_identity who{run, thread, true, object(R"({"model":"m"})")};
  who.only_output = true;
  return response_builder(who);
}

TEST(response_builder, with_a_schema_only_the_output_is_text) {
  response_builder b = output_builder();
  EXPECT_THAT(types_of(apply(b, corrected)), ElementsAre("response.created", "response.in_progress"));
  EXPECT_TRUE(b.response().at("output").as_array().empty());
  const auto events = apply(b, {{9, valid_output}});
  EXPECT_THAT(types_of(events),
              ElementsAre("response.output_item.added", "response.content_part.added", "response.output_text.delta",
                          "response.output_text.done", "response.content_part.done", "response.output_item.done",
                          "response.completed"));
  EXPECT_EQ(events[2].at("delta").as_string(), R"({"city":"Paris"})");
  EXPECT_EQ(events[0].at("sequence_number").to_number<int>(), 8 * static_cast<int>(response_builder::stride));
  EXPECT_EQ(b.response().at("output").as_array().size(), 1u);
}

TEST(response_builder, an_output_that_is_not_valid_is_never_text) {
  const std::string calls = R"({"type":"status","status":"completed","reason":"tool_calls"})";
  const std::string length = R"({"type":"status","status":"failed","reason":"length"})";
  const std::pair<std::string, const char*> ends[] = {
      {invalid_output, "failed"}, {completed, "failed"}, {calls, "completed"}, {length, "incomplete"}};
  for (const auto& [end, status] : ends) {
    response_builder b = output_builder();
    apply(b, corrected);
    apply(b, {{9, end}});
    EXPECT_EQ(b.response().at("status").as_string(), status) << end;
    EXPECT_TRUE(b.response().at("output").as_array().empty()) << end;
  }
  response_builder b = output_builder();
  apply(b, {{1, invalid_output}});
  EXPECT_EQ(b.response().at("error").at("message").as_string(), "The output does not match the requested schema: x");
}

TEST(chat_builder, with_a_schema_only_the_output_is_content) {
  chat_builder b({run, "m", false, true});
  std::vector<json::object> chunks;
  for (const auto& [n, event] : corrected) b.apply(event, chunks);
  EXPECT_TRUE(chunks.empty());
  chat_builder failing = b;
  b.apply(valid_output, chunks);
  EXPECT_EQ(b.completion().at("choices").as_array()[0].at("message").at("content").as_string(), R"({"city":"Paris"})");
  EXPECT_EQ(chunks[1].at("choices").as_array()[0].at("delta").at("content").as_string(), R"({"city":"Paris"})");
  failing.apply(invalid_output, chunks);
  EXPECT_TRUE(failing.failed());
  EXPECT_EQ(failing.failure().status, 500u);
}

TEST(conversation, only_the_output_of_a_run_with_several_answers_is_kept) {
  std::vector<json::object> messages = {
      object(R"({"role":"user","agent_run_id":"a","content":"x"})"),
      object(R"({"role":"assistant","agent_run_id":"a","content":"look","tool_calls":[{"id":"c","name":"f"}]})"),
      object(R"({"role":"tool","agent_run_id":"a","tool_call_id":"c","content":"y"})"),
      object(R"({"role":"assistant","agent_run_id":"a","content":"wrong"})"),
      object(R"({"role":"assistant","agent_run_id":"a","content":"right"})"),
      object(R"({"role":"assistant","agent_run_id":"b","content":"other"})")};
  EXPECT_THAT(runs_with_several_answers(messages), ElementsAre("a"));
  keep_output(messages, "a", "{}");
  keep_output(messages, "unknown", "{}");
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(messages[1].at("content").as_string(), "look");
  EXPECT_EQ(messages[3].at("content").as_string(), "{}");
  EXPECT_EQ(messages[4].at("content").as_string(), "other");
}

TEST(request, output_formats_are_schemas_of_the_run) {
  const auto schema_of = [](const run_options& o) { return field(o.fields("Rule"), "output_schema"); };
  const response_request r = request(
      R"({"model":"m","input":"x","text":{"format":{"type":"json_schema","name":"n","schema":{"type":"array"}}}})");
  EXPECT_EQ(schema_of(r.options), R"({"type":"array"})");
  EXPECT_EQ(r.options.schema_param, "text.format.schema");
  EXPECT_EQ(field(r.options.fields("Rule"), "system"), "Rule");
  EXPECT_EQ(schema_of(request(R"({"input":"x","text":{"format":{"type":"json_object"}}})").options),
            R"({"type":"object"})");
  EXPECT_EQ(schema_of(request(R"({"input":"x","text":{"format":{"type":"text"}}})").options), "");
  EXPECT_EQ(schema_of(request(R"({"input":"x"})").options), "");
  const chat_request c = read_chat_request(object(
      R"({"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}})"));
  EXPECT_EQ(schema_of(c.options), "{}");
  EXPECT_EQ(c.options.schema_param, "response_format.json_schema.schema");
}

TEST(request, limits_of_calls_and_truncation) {
  const response_request r = request(R"({"model":"m","input":"x","max_tool_calls":2,"truncation":"disabled"})");
  EXPECT_EQ(r.base.at("max_tool_calls").as_int64(), 2);
  EXPECT_EQ(r.base.at("truncation").as_string(), "auto");
  EXPECT_EQ(error_of([] { request(R"({"model":"agent","input":"x","max_tool_calls":2})"); }).param, "max_tool_calls");
  EXPECT_EQ(error_of([] { request(R"({"input":"x","truncation":"first"})"); }).param, "truncation");
}

TEST(ids, threads_of_keys) {
  EXPECT_EQ(thread_of_key(run, "a"), thread_of_key(run, "a"));
  EXPECT_NE(thread_of_key(run, "a"), thread_of_key(run, "b"));
  EXPECT_NE(thread_of_key(run, "a"), thread_of_key(thread, "a"));
  EXPECT_NE(project_of_thread(thread), thread);
}

TEST(response_builder, waiting_and_trimmed_runs) {
  response_builder waiting = builder();
  const auto events = apply(waiting, {{1, running},
                                      {2, R"({"type":"queued","position":1})"},
                                      {3, R"({"type":"queued","position":2})"},
                                      {4, answer_1}});
  EXPECT_THAT(types_of(events),
              ElementsAre("response.created", "response.in_progress", "response.queued", "response.in_progress"));
  response_builder trimmed = builder();
  apply(trimmed, {{40, R"({"type":"gap","from":1,"to":40})"}, {41, completed}});
  EXPECT_TRUE(trimmed.trimmed());
}

TEST(response_builder, unusable_events_are_ignored) {
  response_builder b = builder();
  const auto events = apply(b, {{1, "nonsense"},
                                {2, R"({"type":5})"},
                                {3, R"({"type":"tool_result","tool_call_id":"x"})"},
                                {4, R"({"type":"turn_aborted"})"}});
  EXPECT_THAT(types_of(events), ElementsAre("response.created", "response.in_progress"));
}

TEST(chat_builder, chunks_and_completion) {
  chat_builder b({run, "m", true});
  std::vector<json::object> chunks;
  for (const std::string& e : {running, answer_1, hello, answer_1_again, hello, end_stop, completed})
    b.apply(e, chunks);
  ASSERT_TRUE(b.ended());
  const json::object c = b.completion();
  EXPECT_EQ(c.at("choices").as_array()[0].at("message").at("content").as_string(), "Hello");
  EXPECT_EQ(c.at("usage").at("total_tokens").as_int64(), 5);
  EXPECT_EQ(chunks.front().at("choices").as_array()[0].at("delta").at("role").as_string(), "assistant");
  EXPECT_TRUE(chunks.back().at("choices").as_array().empty());
}

TEST(chat_builder, answers_of_an_agent_are_separate_paragraphs) {
  chat_builder b({run, "agent", false});
  std::vector<json::object> chunks;
  for (const std::string& e : {answer_1, hello, std::string(R"({"type":"llm_response_end","finish":"tool_calls"})"),
                               answer_1, hello, answer_1_again, hello, end_stop, completed})
    b.apply(e, chunks);
  EXPECT_EQ(b.completion().at("choices").as_array()[0].at("message").at("content").as_string(), "Hello\n\nHello");
}

TEST(chat_builder, calls_and_failures) {
  chat_builder b({run, "m", false});
  std::vector<json::object> chunks;
  b.apply(R"({"type":"tool_call","tool_call_id":"a","name":"f","arguments":{"x":1},"source":"client"})", chunks);
  b.apply(R"({"type":"tool_call","tool_call_id":"b","name":"g","arguments":{},"source":"sandbox"})", chunks);
  b.apply(R"({"type":"status","status":"completed","reason":"tool_calls"})", chunks);
  const json::object choice = b.completion().at("choices").as_array()[0].as_object();
  EXPECT_EQ(choice.at("finish_reason").as_string(), "tool_calls");
  EXPECT_EQ(choice.at("message").at("tool_calls").as_array().size(), 1u);
  EXPECT_TRUE(choice.at("message").at("content").is_null());
  chat_builder failing({run, "m", false});
  failing.apply(R"({"type":"status","status":"failed","reason":"credits","error":"no credits"})", chunks);
  EXPECT_TRUE(failing.failed());
  EXPECT_EQ(failing.failure().status, 429u);
}

#include "api/service_start.hpp"

#include <gtest/gtest.h>

#include "run/conversation.hpp"
#include "ry/svc/runs.h"

using namespace runs;

namespace {

std::string refusal_text(const std::vector<form_field>& fields) {
  const auto out = parse_service_start(fields);
  const auto* r = std::get_if<form_refusal>(&out);
  return r != nullptr ? r->detail : "";
}

start_request start_of(const std::vector<form_field>& fields) {
  auto out = parse_service_start(fields);
  const auto* r = std::get_if<form_refusal>(&out);
  EXPECT_EQ(r, nullptr) << (r != nullptr ? r->detail : "");
  return r == nullptr ? std::get<start_request>(out) : start_request();
}

constexpr const char* thread = "0192f0c1-2d3e-7f00-8a1b-0123456789ac";

TEST(service_start_test, the_form_of_clients_does_not_have_the_fields_of_modules) {
  const auto out = parse_start({{"prompt", "hi"}, {RY_RUN_FIELD_SYSTEM, "x"}, {RY_RUN_FIELD_HISTORY, "x"}});
  ASSERT_TRUE(std::holds_alternative<start_request>(out));
  EXPECT_TRUE(std::get<start_request>(out).options.empty());
  EXPECT_TRUE(std::get<start_request>(out).history.empty());
}

TEST(service_start_test, history_becomes_messages_of_the_thread) {
  const start_request r = start_of({{"prompt", "and now?"}, {RY_RUN_FIELD_HISTORY, R"([
    {"role":"user","content":"hi"},
    {"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"t","arguments":{"a":1}}]},
    {"role":"tool","tool_call_id":"c1","name":"t","content":"done"}])"}});
  ASSERT_EQ(r.history.size(), 3u);
  EXPECT_EQ(r.history[0].body, user_body("hi"));
  EXPECT_EQ(calls_of(r.history[1].body).at(0).arguments, R"({"a":1})");
  EXPECT_EQ(answered_id({r.history[2].role, r.history[2].body}), "c1");
}

TEST(service_start_test, the_prompt_is_optional_after_a_message_that_needs_an_answer) {
  EXPECT_EQ(start_of({{RY_RUN_FIELD_HISTORY, R"([{"role":"user","content":"hi"}])"}}).prompt, "");
  EXPECT_EQ(refusal_text({{RY_RUN_FIELD_HISTORY, R"([{"role":"assistant","content":"hi"}])"}}),
            "prompt required when creating new thread");
  EXPECT_EQ(refusal_text({{RY_RUN_FIELD_HISTORY, "[]"}}), "prompt required when creating new thread");
}

TEST(service_start_test, invalid_history_is_named) {
  for (const auto& [history, detail] :
       {std::pair{"{", "history must be a JSON array of messages"},
        {"[1]", "history[0] must be an object"},
        {R"([{"role":"system","content":"x"}])", "history[0].role must be user, assistant or tool"},
        {R"([{"role":"user"}])", "history[0].content must be a string"},
        {R"([{"role":"tool","content":"x"}])", "history[0].tool_call_id must not be empty"},
        {R"([{"role":"assistant","content":"x","tool_calls":[1]}])",
         "history[0].tool_calls must be an array of objects"}})
    EXPECT_EQ(refusal_text({{"prompt", "x"}, {RY_RUN_FIELD_HISTORY, history}}), detail);
  EXPECT_EQ(refusal_text({{"prompt", "x"}, {RY_RUN_FIELD_HISTORY, std::string((1 << 20) + 1, ' ')}}),
            "history must have at most 1.0 MB");
}

TEST(service_start_test, texts_and_client_tools_are_options_of_the_run) {
  const start_request r = start_of({{"prompt", "x"},
                                    {RY_RUN_FIELD_SYSTEM, "Be brief"},
                                    {RY_RUN_FIELD_INSTRUCTIONS, "In French"},
                                    {RY_RUN_FIELD_CONTINUE_TRUNCATED, "false"},
                                    {RY_RUN_FIELD_CLIENT_TOOLS, R"([{"name":"t","strict":true}])"}});
  EXPECT_EQ(r.options.system, "Be brief");
  EXPECT_EQ(r.options.instructions, "In French");
  EXPECT_FALSE(r.options.continue_truncated);
  EXPECT_FALSE(r.options.parks_client_calls);
  EXPECT_EQ(r.options.client_tools,
            R"([{"name":"t","description":"","parameters":{"type":"object","properties":{}}}])");
  EXPECT_EQ(read_options(stored_parameters(r.parameters, r.options)), r.options);
  EXPECT_TRUE(
      start_of({{"prompt", "x"}, {RY_RUN_FIELD_CLIENT_TOOLS, R"([{"name":"t"}])"}, {RY_RUN_FIELD_CLIENT_CALLS, "wait"}})
          .options.parks_client_calls);
  EXPECT_EQ(refusal_text({{"prompt", "x"}, {RY_RUN_FIELD_SYSTEM, "\xff"}}),
            "system must be UTF-8 without NUL characters");
}

TEST(service_start_test, only_callers_that_expect_it_can_join_a_run) {
  const form_field prompt{"prompt", "x"}, of_thread{"thread_id", thread}, steer{"on_busy", "steer"},
      joins{RY_RUN_FIELD_JOINS, "true"};
  EXPECT_EQ(refusal_text({prompt, of_thread, steer}), "on_busy must be reject, enqueue or interrupt");
  EXPECT_EQ(start_of({prompt, of_thread, steer, joins}).on_busy, busy_policy::steer);
  for (const form_field& option :
       std::initializer_list<form_field>{{RY_RUN_FIELD_SYSTEM, "s"},
                                         {RY_RUN_FIELD_INSTRUCTIONS, "i"},
                                         {RY_RUN_FIELD_CONTINUE_TRUNCATED, "false"},
                                         {RY_RUN_FIELD_CLIENT_CALLS, "wait"},
                                         {RY_RUN_FIELD_HISTORY, R"([{"role":"user","content":"x"}])"}})
    EXPECT_EQ(refusal_text({prompt, of_thread, steer, joins, option}),
              "on_busy=steer allows no other options of the run");
}

TEST(service_start_test, tool_results_need_a_thread_and_unique_calls) {
  const char* one = R"([{"tool_call_id":"c1","content":"x","is_error":true}])";
  const start_request r = start_of({{"thread_id", thread}, {RY_RUN_FIELD_TOOL_RESULTS, one}});
  ASSERT_EQ(r.tool_results.size(), 1u);
  EXPECT_TRUE(r.tool_results[0].is_error);
  EXPECT_EQ(refusal_text({{"prompt", "x"}, {RY_RUN_FIELD_TOOL_RESULTS, one}}),
            "tool_results require thread_id, and no on_busy");
  EXPECT_EQ(refusal_text({{"thread_id", thread}, {"on_busy", "enqueue"}, {RY_RUN_FIELD_TOOL_RESULTS, one}}),
            "tool_results require thread_id, and no on_busy");
  EXPECT_EQ(refusal_text({{"thread_id", thread},
                          {RY_RUN_FIELD_TOOL_RESULTS,
                           R"([{"tool_call_id":"a","content":""},{"tool_call_id":"a","content":""}])"}}),
            "tool_results[1].tool_call_id is given more than once");
}

TEST(service_start_test, fields_of_the_form_are_kept) {
  const start_request r = start_of({{"prompt", "x"},
                                    {RY_RUN_FIELD_SYSTEM, "Be brief"},
                                    {"metadata", R"({"a":"b"})"},
                                    {"output_schema", R"({"type":"object"})"},
                                    {"tool_policy", R"([{"match":"shell","action":"deny"}])"}});
  EXPECT_EQ(r.options.system, "Be brief");
  EXPECT_EQ(r.options.output_schema, R"({"type":"object"})");
  EXPECT_EQ(r.options.tool_rules.size(), 1u);
  EXPECT_EQ(r.metadata, R"({"a":"b"})");
}

}  // namespace

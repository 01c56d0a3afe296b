#include "finish.hpp"

#include <gtest/gtest.h>
#include <ry/ext/llm_provider.h>

namespace {

using llm::finish_of;

TEST(finish, finish_reasons_of_all_providers_are_mapped) {
  const struct {
    const char* reason;
    std::int32_t finish;
  } cases[] = {{"", 0},
               {"stop", RY_LLM_FINISH_STOP},
               {"eos", RY_LLM_FINISH_STOP},
               {"end_turn", RY_LLM_FINISH_STOP},
               {"something_new", RY_LLM_FINISH_STOP},
               {"null", 0},
               {" ", 0},
               {"rate_limit", RY_LLM_FINISH_ERROR},
               {"RATE_LIMITED", RY_LLM_FINISH_ERROR},
               {"client_disconnected", RY_LLM_FINISH_ERROR},
               {"interrupted", RY_LLM_FINISH_ERROR},
               {"token_limit_reached", RY_LLM_FINISH_LENGTH},
               {"harmful_content", RY_LLM_FINISH_FILTER},
               {"declined", RY_LLM_FINISH_REFUSAL},
               {"tool_use", RY_LLM_FINISH_TOOL_CALLS},
               {"toolUse", RY_LLM_FINISH_TOOL_CALLS},
               {"function_call", RY_LLM_FINISH_TOOL_CALLS},
               {"length", RY_LLM_FINISH_LENGTH},
               {"MAX_TOKENS", RY_LLM_FINISH_LENGTH},
               {"maxTokens", RY_LLM_FINISH_LENGTH},
               {"model_length", RY_LLM_FINISH_LENGTH},
               {"model_context_window_exceeded", RY_LLM_FINISH_LENGTH},
               {"content_filter", RY_LLM_FINISH_FILTER},
               {"content-filter", RY_LLM_FINISH_FILTER},
               {"SAFETY", RY_LLM_FINISH_FILTER},
               {"FINISH_REASON_SAFETY", RY_LLM_FINISH_FILTER},
               {"sensitive", RY_LLM_FINISH_FILTER},
               {"guardrail_intervened", RY_LLM_FINISH_FILTER},
               {"refusal", RY_LLM_FINISH_REFUSAL},
               {"pause_turn", RY_LLM_FINISH_PAUSE},
               {"error", RY_LLM_FINISH_ERROR},
               {"network_error", RY_LLM_FINISH_ERROR},
               {"engine_overloaded", RY_LLM_FINISH_ERROR},
               {"server_is_overloaded", RY_LLM_FINISH_ERROR},
               {"insufficient_system_resource", RY_LLM_FINISH_ERROR},
               {"upstream_failure", RY_LLM_FINISH_ERROR},
               {"abort", RY_LLM_FINISH_ERROR},
               {"function_call_filter: MALFORMED_FUNCTION_CALL", RY_LLM_FINISH_ERROR},
               {"UNEXPECTED_TOOL_CALL", RY_LLM_FINISH_ERROR}};
  for (const auto& c : cases) EXPECT_EQ(finish_of(c.reason), c.finish) << c.reason;
}

TEST(finish, the_more_severe_of_finish_reason_and_native_reason_counts) {
  EXPECT_EQ(finish_of("stop", "network_error"), RY_LLM_FINISH_ERROR);
  EXPECT_EQ(finish_of("stop", "SAFETY"), RY_LLM_FINISH_FILTER);
  EXPECT_EQ(finish_of("stop", "MAX_TOKENS"), RY_LLM_FINISH_LENGTH);
  EXPECT_EQ(finish_of("length", "stop"), RY_LLM_FINISH_LENGTH);
  EXPECT_EQ(finish_of("tool_calls", "STOP"), RY_LLM_FINISH_TOOL_CALLS);
  EXPECT_EQ(finish_of("stop", "a_new_failure_mode"), RY_LLM_FINISH_STOP);
}

TEST(finish, a_native_reason_alone_ends_only_a_failed_or_filtered_answer) {
  EXPECT_EQ(finish_of("", "MALFORMED_FUNCTION_CALL"), RY_LLM_FINISH_ERROR);
  EXPECT_EQ(finish_of("null", "SAFETY"), RY_LLM_FINISH_FILTER);
  EXPECT_EQ(finish_of("", "STOP"), 0);
  EXPECT_EQ(finish_of("", "tool_use"), 0);
  EXPECT_EQ(finish_of("", "a_new_name"), 0);
}

TEST(finish, more_severe_returns_the_more_severe_finish) {
  EXPECT_EQ(llm::more_severe(RY_LLM_FINISH_LENGTH, RY_LLM_FINISH_STOP), RY_LLM_FINISH_LENGTH);
  EXPECT_EQ(llm::more_severe(RY_LLM_FINISH_STOP, RY_LLM_FINISH_FILTER), RY_LLM_FINISH_FILTER);
  EXPECT_EQ(llm::more_severe(RY_LLM_FINISH_ERROR, RY_LLM_FINISH_FILTER), RY_LLM_FINISH_ERROR);
  EXPECT_EQ(llm::more_severe(0, RY_LLM_FINISH_STOP), RY_LLM_FINISH_STOP);
}

}  // namespace

#include "agent/answer_outcome.hpp"

#include <gtest/gtest.h>

#include "ry/ext/llm_provider.h"

using namespace runs;

namespace {

TEST(judge_answer_test, maps_every_finish_with_and_without_text_and_calls) {
  struct row {
    std::int32_t finish;
    bool text, calls, continues;
    outcome expected;
  };
  const row rows[] = {
      {RY_LLM_FINISH_STOP, true, false, false, outcome::complete},
      {RY_LLM_FINISH_STOP, false, false, false, outcome::empty},
      {RY_LLM_FINISH_STOP, false, true, false, outcome::calls},
      {RY_LLM_FINISH_STOP, true, true, false, outcome::calls},
      {RY_LLM_FINISH_STOP, false, false, true, outcome::complete},
      {RY_LLM_FINISH_TOOL_CALLS, false, true, false, outcome::calls},
      {RY_LLM_FINISH_LENGTH, true, false, false, outcome::truncated},
      {RY_LLM_FINISH_LENGTH, true, false, true, outcome::truncated},
      {RY_LLM_FINISH_LENGTH, false, false, false, outcome::empty},
      {RY_LLM_FINISH_LENGTH, false, false, true, outcome::empty},
      {RY_LLM_FINISH_LENGTH, true, true, false, outcome::calls},
      {RY_LLM_FINISH_FILTER, true, false, false, outcome::filtered},
      {RY_LLM_FINISH_FILTER, false, false, false, outcome::filtered},
      {RY_LLM_FINISH_FILTER, false, true, false, outcome::filtered},
      {RY_LLM_FINISH_REFUSAL, false, false, false, outcome::refused},
      {RY_LLM_FINISH_REFUSAL, true, true, false, outcome::refused},
      {RY_LLM_FINISH_PAUSE, true, false, false, outcome::paused},
      {RY_LLM_FINISH_PAUSE, false, false, false, outcome::empty},
      {RY_LLM_FINISH_PAUSE, false, false, true, outcome::empty},
      {RY_LLM_FINISH_PAUSE, false, true, false, outcome::calls},
      {0, true, false, false, outcome::complete},
      {99, true, false, false, outcome::complete},
      {99, false, false, false, outcome::empty},
  };
  for (const row& r : rows)
    EXPECT_EQ(judge_answer({r.finish, r.text, r.calls, r.continues}), r.expected)
        << "finish " << r.finish << " text " << r.text << " calls " << r.calls << " continues " << r.continues;
}

TEST(status_of_answer_test, a_reported_error_and_announced_but_missing_calls_are_failures) {
  EXPECT_EQ(status_of_answer(RY_LLM_FINISH_ERROR, false), RY_UNAVAILABLE);
  EXPECT_EQ(status_of_answer(RY_LLM_FINISH_ERROR, true), RY_UNAVAILABLE);
  EXPECT_EQ(status_of_answer(RY_LLM_FINISH_TOOL_CALLS, false), RY_DATA_LOSS);
  EXPECT_EQ(status_of_answer(RY_LLM_FINISH_TOOL_CALLS, true), RY_OK);
  for (const std::int32_t finish : {0, RY_LLM_FINISH_STOP, RY_LLM_FINISH_LENGTH, RY_LLM_FINISH_FILTER,
                                    RY_LLM_FINISH_REFUSAL, RY_LLM_FINISH_PAUSE, 99})
    EXPECT_EQ(status_of_answer(finish, false), RY_OK) << finish;
}

TEST(finish_name_test, maps_every_finish) {
  EXPECT_EQ(finish_name(RY_LLM_FINISH_STOP, false), "stop");
  EXPECT_EQ(finish_name(RY_LLM_FINISH_STOP, true), "tool_calls");
  EXPECT_EQ(finish_name(RY_LLM_FINISH_TOOL_CALLS, true), "tool_calls");
  EXPECT_EQ(finish_name(RY_LLM_FINISH_LENGTH, true), "length");
  EXPECT_EQ(finish_name(RY_LLM_FINISH_FILTER, false), "content_filter");
  EXPECT_EQ(finish_name(RY_LLM_FINISH_REFUSAL, false), "refusal");
  EXPECT_EQ(finish_name(RY_LLM_FINISH_PAUSE, false), "pause");
  EXPECT_EQ(finish_name(RY_LLM_FINISH_PAUSE, true), "tool_calls");
  EXPECT_EQ(finish_name(RY_LLM_FINISH_ERROR, false), "error");
  EXPECT_EQ(finish_name(0, false), "stop");
  EXPECT_EQ(finish_name(99, false), "stop");
}

TEST(is_charged_test, an_answer_without_output_is_free) {
  EXPECT_TRUE(is_charged(outcome::complete, true));
  EXPECT_TRUE(is_charged(outcome::calls, false));
  EXPECT_TRUE(is_charged(outcome::truncated, true));
  EXPECT_TRUE(is_charged(outcome::paused, true));
  EXPECT_TRUE(is_charged(outcome::filtered, true));
  EXPECT_TRUE(is_charged(outcome::refused, true));
  EXPECT_FALSE(is_charged(outcome::filtered, false));
  EXPECT_FALSE(is_charged(outcome::refused, false));
  EXPECT_FALSE(is_charged(outcome::empty, false));
}

}  // namespace

#include "agent/result_excerpt.hpp"

#include <gtest/gtest.h>

using namespace runs;

namespace {

chat_message user(std::string_view text) {
  return {"user", user_body(text), belongs::to_this_run};
}
chat_message assistant(std::string_view text, std::vector<tool_call> calls = {}, belongs run = belongs::to_this_run) {
  return {"assistant", assistant_body(text, calls), run};
}

TEST(beginning_of_result_test, is_the_last_answer_in_words_of_this_run) {
  EXPECT_EQ(beginning_of_result({}), "");
  EXPECT_EQ(beginning_of_result({assistant("before", {}, belongs::to_an_earlier_run), user("q")}), "");
  EXPECT_EQ(beginning_of_result({user("q"),
                                 assistant("I look it up", {{"1", "t", "{}"}}),
                                 {"tool", "{}", belongs::to_this_run},
                                 assistant("Done")}),
            "Done");
  EXPECT_EQ(beginning_of_result({user("q"), assistant("part 1"), assistant("part 2")}), "part 1")
      << "a continued answer";
  using namespace std::string_view_literals;
  EXPECT_EQ(beginning_of_result({assistant("a\0b\x1b\n\tc"sv)}), "a b \n\tc") << "no control characters";
  std::string euros;
  for (int i = 0; i < 400; ++i) euros += "\xe2\x82\xac";
  EXPECT_EQ(beginning_of_result({assistant(euros)}).size(), 999u) << "whole characters";
}

}  // namespace

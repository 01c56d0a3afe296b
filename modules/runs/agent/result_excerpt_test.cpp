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

TEST(result_excerpt_test, is_the_beginning_of_the_last_text_answer_of_this_run) {
  EXPECT_EQ(result_excerpt({}), "");
  EXPECT_EQ(result_excerpt({assistant("before", {}, belongs::to_an_earlier_run), user("q")}), "");
  EXPECT_EQ(result_excerpt({user("q"),
                            assistant("I look it up", {{"1", "t", "{}"}}),
                            {"tool", "{}", belongs::to_this_run},
                            assistant("Done")}),
            "Done");
  EXPECT_EQ(result_excerpt({user("q"), assistant("part 1"), assistant("part 2")}), "part 1") << "a continued answer";
  using namespace std::string_view_literals;
  EXPECT_EQ(result_excerpt({assistant("a\0b\x1b\n\tc"sv)}), "a b \n\tc") << "no control characters";
  std::string euros;
  for (int i = 0; i < 400; ++i) euros += "\xe2\x82\xac";
  EXPECT_EQ(result_excerpt({assistant(euros)}).size(), 999u) << "complete characters";
}

}  // namespace

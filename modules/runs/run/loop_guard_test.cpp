#include "run/loop_guard.hpp"

#include <gtest/gtest.h>

using namespace runs;
using verdict = loop_guard::verdict;

namespace {

const tool_call list{"c1", "list_files", R"({"path":"a"})", false};
const tool_call other{"c2", "list_files", R"({"path":"b"})", false};

TEST(loop_guard_test, refuses_repeated_calls_then_gives_up) {
  loop_guard g;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(g.judge(list, 5), verdict::allow) << i;
    g.note(list, "(empty)");
  }
  EXPECT_EQ(g.judge(list, 5), verdict::refuse);
  EXPECT_EQ(g.judge(other, 5), verdict::allow) << "different arguments are a different call";
  EXPECT_EQ(g.judge(list, 0), verdict::allow) << "no limit";
  g.note(list, loop_guard::refusal());
  EXPECT_EQ(g.judge(list, 5), verdict::refuse);
  g.note(list, loop_guard::refusal());
  EXPECT_EQ(g.judge(list, 5), verdict::give_up);
}

TEST(loop_guard_test, changing_results_are_not_a_loop) {
  loop_guard g;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(g.judge(list, 3), verdict::allow);
    g.note(list, std::to_string(i / 2));
  }
}

TEST(loop_guard_test, a_loop_over_two_calls_is_detected) {
  loop_guard g;
  for (int i = 0; i < 3; ++i) {
    g.note(list, "x");
    g.note(other, "y");
  }
  EXPECT_EQ(g.judge(list, 3), verdict::refuse);
  EXPECT_EQ(g.judge(other, 3), verdict::refuse);
}

TEST(loop_guard_test, another_worker_reaches_the_same_verdict) {
  loop_guard live;
  std::vector<chat_message> messages;
  const auto turn = [&](std::string_view result, belongs run) {
    messages.push_back({"assistant", assistant_body("", {list}), run});
    messages.push_back({"tool", tool_body(list, {std::string(result), false, {}}), run});
    if (run == belongs::to_this_run) live.note(list, result);
  };
  turn("same", belongs::to_an_earlier_run);
  for (int i = 0; i < 3; ++i) turn("same", belongs::to_this_run);
  turn(loop_guard::refusal(), belongs::to_this_run);
  loop_guard successor;
  successor.read(messages);
  for (std::int64_t limit : {1, 3, 4}) EXPECT_EQ(successor.judge(list, limit), live.judge(list, limit));
  EXPECT_EQ(successor.judge(list, 3), verdict::refuse);
  EXPECT_EQ(successor.judge(list, 4), verdict::allow) << "an earlier run's calls do not count";
}

}  // namespace

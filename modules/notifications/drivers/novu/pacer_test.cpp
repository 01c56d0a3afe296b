#include "pacer.hpp"

#include <gtest/gtest.h>

using namespace notify_novu;

namespace {

constexpr std::int64_t s = 1'000'000;

TEST(pacer, waits_for_the_reset_when_nothing_remains) {
  pacer p;
  EXPECT_EQ(p.take(category::trigger, 1, 0), 0);
  p.answered(category::trigger, 1, {2, 5, {}}, 0);
  EXPECT_EQ(p.take(category::trigger, 1, s), 0);
  EXPECT_EQ(p.take(category::trigger, 1, s), 0);
  EXPECT_EQ(p.take(category::trigger, 1, s), 4 * s) << "both that remained are on their way";
  EXPECT_EQ(p.take(category::other, 1, s), 0) << "counted apart";
  p.answered(category::trigger, 1, {1, 4, {}}, s);
  p.answered(category::trigger, 1, {0, 4, {}}, s);
  EXPECT_EQ(p.take(category::trigger, 1, 2 * s), 3 * s);
  EXPECT_EQ(p.take(category::trigger, 1, 5 * s), 0);
}

TEST(pacer, a_bulk_request_may_cost_more_than_the_remaining_quota) {
  pacer p;
  EXPECT_EQ(p.take(category::trigger, 1, 0), 0);
  p.answered(category::trigger, 1, {60, 5, {}}, 0);
  EXPECT_EQ(p.take(category::trigger, 100, 0), 5 * s);
  EXPECT_EQ(p.take(category::trigger, 1, 0), 0);
  p.unanswered(category::trigger, 1);
  EXPECT_EQ(p.take(category::trigger, 100, 5 * s), 0);
}

TEST(pacer, a_refusal_closes_for_as_long_as_it_says) {
  pacer p;
  EXPECT_EQ(p.take(category::trigger, 1, 0), 0);
  p.answered(category::trigger, 1, {300, 5, 2}, 0);
  EXPECT_EQ(p.take(category::trigger, 1, 0), 2 * s);
  EXPECT_EQ(p.take(category::trigger, 1, 2 * s), 0);
  p.answered(category::trigger, 1, {{}, {}, 1'000'000'000'000}, 2 * s);
  EXPECT_EQ(p.take(category::trigger, 1, 2 * s), 3600 * s);
}

TEST(pacer, before_the_first_answer_few_go_out) {
  pacer p;
  int sent = 0;
  while (sent < 1000 && p.take(category::trigger, 1, 0) == 0) sent++;
  EXPECT_EQ(sent, 100);
  for (int i = 0; i < 100; i++) p.unanswered(category::trigger, 1);
  EXPECT_EQ(p.take(category::trigger, 1, 0), 0);
}

}  // namespace

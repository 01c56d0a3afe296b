#include "store/batch_policy.hpp"

#include <gtest/gtest.h>

#include <vector>

using runs::batch_policy;

namespace {

TEST(batch_policy_test, a_second_statement_begins_for_a_full_batch_or_if_the_first_is_slow) {
  struct entry {
    ry_exec* exec;
  };
  ry_exec* const exec = reinterpret_cast<ry_exec*>(8);
  batch_policy policy(10);
  bool can_batch = true;
  // B: a statement begins; R: a retry is scheduled; -: nothing.
  const auto begin = [&](std::size_t waiting, std::int64_t now) {
    entry one{exec};
    const std::vector<entry*> all(waiting, &one);
    ry_exec* retry_on = nullptr;
    const auto batch = policy.begin(
        all, now, [&] { return can_batch ? all : std::vector<entry*>(); }, retry_on);
    EXPECT_TRUE(retry_on == nullptr || (retry_on == exec && batch.empty()));
    return !batch.empty() ? 'B' : retry_on != nullptr ? 'R' : '-';
  };
  EXPECT_EQ(begin(0, 0), '-');
  can_batch = false;
  EXPECT_EQ(begin(1, 0), 'R') << "other statements hold the accounts of all entries";
  can_batch = true;
  EXPECT_EQ(begin(1, 0), 'B');
  EXPECT_EQ(begin(0, 1000), '-');
  EXPECT_EQ(begin(9, 1000), 'R');
  EXPECT_EQ(begin(0, batch_policy::slow_us), '-');
  EXPECT_EQ(begin(1, batch_policy::slow_us), 'B') << "the first is slow";
  EXPECT_EQ(begin(100, 100 * batch_policy::slow_us), '-') << "two statements are the maximum";
  policy.ended();
  EXPECT_EQ(begin(1, batch_policy::slow_us + 1), 'R') << "the second statement is not slow yet";
  EXPECT_EQ(begin(10, batch_policy::slow_us + 1), 'B') << "a full batch";
  policy.ended();
  policy.ended();
  EXPECT_EQ(begin(1, batch_policy::slow_us + 1), 'B');
}

}  // namespace

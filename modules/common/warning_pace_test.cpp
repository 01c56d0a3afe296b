#include "warning_pace.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using logging::warning_pace;
using std::chrono::seconds;

TEST(warning_pace, one_in_a_pause_with_the_number_of_those_before_it) {
  warning_pace pace(seconds(10));
  const warning_pace::clock::time_point begun{seconds(0)};
  EXPECT_EQ(pace.due(begun), 1u) << "the first one, at any time";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pace.due(begun + seconds(9)), 0u);
  EXPECT_EQ(pace.due(begun + seconds(10)), 101u);
  EXPECT_EQ(pace.due(begun + seconds(19)), 0u);
  EXPECT_EQ(pace.due(begun + seconds(30)), 2u);
}

TEST(warning_pace, several_in_a_pause) {
  warning_pace pace(seconds(10), 3);
  const warning_pace::clock::time_point begun{seconds(0)};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pace.due(begun + seconds(i)), 1u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pace.due(begun + seconds(9)), 0u);
  EXPECT_EQ(pace.due(begun + seconds(10)), 6u);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(pace.due(begun + seconds(12)), 1u);
  EXPECT_EQ(pace.due(begun + seconds(12)), 0u);
}

TEST(warning_pace, of_many_threads_one_logs) {
  warning_pace pace;
  std::atomic<int> logged{0};
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) logged += pace.due() != 0;
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(logged, 1);
}

}  // namespace

#include "warning_pace.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using logging::warning_pace;
using std::chrono::seconds;

TEST(warning_pace, allows_one_warning_per_interval_and_counts_suppressed_ones) {
  warning_pace pace(seconds(10));
  const warning_pace::clock::time_point start{seconds(0)};
  EXPECT_EQ(pace.due(start), 1u) << "the first warning is always logged";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pace.due(start + seconds(9)), 0u);
  EXPECT_EQ(pace.due(start + seconds(10)), 101u);
  EXPECT_EQ(pace.due(start + seconds(19)), 0u);
  EXPECT_EQ(pace.due(start + seconds(30)), 2u);
}

TEST(warning_pace, allows_several_warnings_per_interval) {
  warning_pace pace(seconds(10), 3);
  const warning_pace::clock::time_point start{seconds(0)};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pace.due(start + seconds(i)), 1u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pace.due(start + seconds(9)), 0u);
  EXPECT_EQ(pace.due(start + seconds(10)), 6u);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(pace.due(start + seconds(12)), 1u);
  EXPECT_EQ(pace.due(start + seconds(12)), 0u);
}

TEST(warning_pace, only_one_of_many_concurrent_warnings_is_logged) {
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

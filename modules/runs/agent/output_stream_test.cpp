// The rate limit of progress events.
#include "agent/output_stream.hpp"

#include <gtest/gtest.h>

namespace runs {
namespace {

TEST(progress_pace_test, a_burst_is_sent_immediately_and_a_flood_at_the_rate) {
  progress_pace pace;
  std::int64_t now = 5'000'000, taken = 0;
  for (int i = 0; i < 100'000; ++i) taken += pace.take(now) ? 1 : 0;
  EXPECT_EQ(taken, progress_pace::burst);
  EXPECT_EQ(pace.wait_us(), 1'000'000 / progress_pace::per_second);
  taken = 0;
  for (int i = 0; i < 20'000; ++i) taken += pace.take(now += 1'000) ? 1 : 0;  // for 20 seconds
  EXPECT_EQ(taken, 20 * progress_pace::per_second);
}

TEST(progress_pace_test, slow_progress_is_always_sent) {
  progress_pace pace;
  std::int64_t now = 1;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(pace.take(now += 1'000'000 / progress_pace::per_second));
}

TEST(progress_pace_test, silence_saves_no_more_than_a_burst_and_a_clock_that_stands_still_gives_nothing) {
  progress_pace pace;
  std::int64_t taken = 0;
  for (int i = 0; i < 200; ++i) taken += pace.take(1'000) ? 1 : 0;
  for (int i = 0; i < 200; ++i) taken += pace.take(3'600'000'000) ? 1 : 0;
  for (int i = 0; i < 200; ++i) taken += pace.take(3'600'000'000 - 5'000'000) ? 1 : 0;
  EXPECT_EQ(taken, 2 * progress_pace::burst);
}

}  // namespace
}  // namespace runs

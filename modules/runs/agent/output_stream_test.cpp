// Tests of the rate limit of progress events.
#include "agent/output_stream.hpp"

#include <gtest/gtest.h>

namespace runs {
namespace {

TEST(progress_rate_limiter_test, a_burst_is_sent_immediately_and_a_flood_is_throttled) {
  progress_rate_limiter limiter;
  std::int64_t now = 5'000'000, taken = 0;
  for (int i = 0; i < 100'000; ++i) taken += limiter.take(now) ? 1 : 0;
  EXPECT_EQ(taken, progress_rate_limiter::burst);
  EXPECT_EQ(limiter.wait_us(), 1'000'000 / progress_rate_limiter::per_second);
  taken = 0;
  for (int i = 0; i < 20'000; ++i) taken += limiter.take(now += 1'000) ? 1 : 0;  // for 20 seconds
  EXPECT_EQ(taken, 20 * progress_rate_limiter::per_second);
}

TEST(progress_rate_limiter_test, slow_progress_is_always_sent) {
  progress_rate_limiter limiter;
  std::int64_t now = 1;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limiter.take(now += 1'000'000 / progress_rate_limiter::per_second));
}

TEST(progress_rate_limiter_test, idle_time_accumulates_at_most_one_burst_and_needs_a_moving_clock) {
  progress_rate_limiter limiter;
  std::int64_t taken = 0;
  for (int i = 0; i < 200; ++i) taken += limiter.take(1'000) ? 1 : 0;
  for (int i = 0; i < 200; ++i) taken += limiter.take(3'600'000'000) ? 1 : 0;
  for (int i = 0; i < 200; ++i) taken += limiter.take(3'600'000'000 - 5'000'000) ? 1 : 0;
  EXPECT_EQ(taken, 2 * progress_rate_limiter::burst);
}

}  // namespace
}  // namespace runs

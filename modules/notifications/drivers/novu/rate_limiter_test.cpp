#include "rate_limiter.hpp"

#include <gtest/gtest.h>

using namespace notify_novu;

namespace {

constexpr std::int64_t s = 1'000'000;

TEST(rate_limiter, waits_for_the_reset_when_nothing_remains) {
  rate_limiter limiter;
  EXPECT_EQ(limiter.acquire(category::trigger, 1, 0), 0);
  limiter.on_response(category::trigger, 1, {2, 5, {}}, 0);
  EXPECT_EQ(limiter.acquire(category::trigger, 1, s), 0);
  EXPECT_EQ(limiter.acquire(category::trigger, 1, s), 0);
  EXPECT_EQ(limiter.acquire(category::trigger, 1, s), 4 * s) << "both remaining tokens are in use";
  EXPECT_EQ(limiter.acquire(category::other, 1, s), 0) << "counted separately";
  limiter.on_response(category::trigger, 1, {1, 4, {}}, s);
  limiter.on_response(category::trigger, 1, {0, 4, {}}, s);
  EXPECT_EQ(limiter.acquire(category::trigger, 1, 2 * s), 3 * s);
  EXPECT_EQ(limiter.acquire(category::trigger, 1, 5 * s), 0);
}

TEST(rate_limiter, a_bulk_request_may_cost_more_than_the_remaining_quota) {
  rate_limiter limiter;
  EXPECT_EQ(limiter.acquire(category::trigger, 1, 0), 0);
  limiter.on_response(category::trigger, 1, {60, 5, {}}, 0);
  EXPECT_EQ(limiter.acquire(category::trigger, 100, 0), 5 * s);
  EXPECT_EQ(limiter.acquire(category::trigger, 1, 0), 0);
  limiter.on_no_response(category::trigger, 1);
  EXPECT_EQ(limiter.acquire(category::trigger, 100, 5 * s), 0);
}

TEST(rate_limiter, a_429_stops_requests_until_its_retry_after) {
  rate_limiter limiter;
  EXPECT_EQ(limiter.acquire(category::trigger, 1, 0), 0);
  limiter.on_response(category::trigger, 1, {300, 5, 2}, 0);
  EXPECT_EQ(limiter.acquire(category::trigger, 1, 0), 2 * s);
  EXPECT_EQ(limiter.acquire(category::trigger, 1, 2 * s), 0);
  limiter.on_response(category::trigger, 1, {{}, {}, 1'000'000'000'000}, 2 * s);
  EXPECT_EQ(limiter.acquire(category::trigger, 1, 2 * s), 3600 * s);
}

TEST(rate_limiter, requests_are_limited_before_the_first_response) {
  rate_limiter limiter;
  int sent = 0;
  while (sent < 1000 && limiter.acquire(category::trigger, 1, 0) == 0) sent++;
  EXPECT_EQ(sent, 100);
  for (int i = 0; i < 100; i++) limiter.on_no_response(category::trigger, 1);
  EXPECT_EQ(limiter.acquire(category::trigger, 1, 0), 0);
}

}  // namespace

#include "agent/retry.hpp"

#include <gtest/gtest.h>

#include "ry/abi.h"

using namespace runs;
using action = next_try::action_kind;

namespace {

failed_attempt attempt(std::int32_t status, std::int64_t tries = 1) {
  return {.status = status, .tries = tries, .max_tries = 4, .remaining_ms = 1'000'000};
}

TEST(retry_test, only_transient_errors_are_retried) {
  for (std::int32_t st : {RY_RESOURCE_EXHAUSTED, RY_UNAVAILABLE, RY_DEADLINE_EXCEEDED})
    EXPECT_EQ(after_failure(attempt(st)).action, action::same_model) << st;
  for (std::int32_t st : {RY_INVALID_ARGUMENT, RY_UNAUTHENTICATED, RY_NOT_FOUND, RY_OUT_OF_RANGE})
    EXPECT_EQ(after_failure(attempt(st)).action, action::stop) << st;
  EXPECT_EQ(after_failure(attempt(RY_UNAVAILABLE, 4)).action, action::stop);
  EXPECT_EQ(after_failure(attempt(RY_DATA_LOSS, 1)).action, action::same_model);
  EXPECT_EQ(after_failure(attempt(RY_DATA_LOSS, 2)).action, action::stop) << "invalid responses are retried once";
}

TEST(retry_test, falls_back_to_another_model_if_there_is_one) {
  failed_attempt f = attempt(RY_UNAUTHENTICATED);
  f.has_fallback = true;
  EXPECT_EQ(after_failure(f).action, action::next_model);
  EXPECT_EQ(after_failure(f).wait_ms, 0u);
  f = attempt(RY_UNAVAILABLE, 4);
  f.has_fallback = true;
  EXPECT_EQ(after_failure(f).action, action::next_model);
}

TEST(retry_test, backoff_grows_and_half_of_it_is_random) {
  const std::uint64_t max_delay_ms[] = {500, 1000, 2000, 4000, 8000, 16000, 16000};
  for (std::int64_t n = 1; n <= 7; ++n) {
    failed_attempt f = attempt(RY_UNAVAILABLE, n);
    f.max_tries = 100;
    EXPECT_EQ(after_failure(f).wait_ms, max_delay_ms[n - 1]);
    f.random = UINT32_MAX;
    EXPECT_GE(after_failure(f).wait_ms, max_delay_ms[n - 1] / 2);
    EXPECT_LT(after_failure(f).wait_ms, max_delay_ms[n - 1] / 2 + 2);
  }
}

TEST(retry_test, the_delay_requested_by_the_provider_is_used) {
  failed_attempt f = attempt(RY_RESOURCE_EXHAUSTED);
  f.retry_after_s = 90;
  EXPECT_EQ(after_failure(f).wait_ms, 90'000u);
  f.random = UINT32_MAX;
  EXPECT_GE(after_failure(f).wait_ms, 90'000u) << "never earlier than the provider requests";
  f.retry_after_s = 121;
  EXPECT_EQ(after_failure(f).action, action::stop);
  f.retry_after_s = 6;
  f.has_fallback = true;
  EXPECT_EQ(after_failure(f).action, action::next_model);
  f.retry_after_s = 5;
  EXPECT_EQ(after_failure(f).action, action::same_model);
}

TEST(retry_test, never_waits_beyond_the_deadline_of_the_run) {
  failed_attempt f = attempt(RY_UNAVAILABLE);
  f.remaining_ms = 500;
  EXPECT_EQ(after_failure(f).action, action::stop);
  f.remaining_ms = 501;
  EXPECT_EQ(after_failure(f).action, action::same_model);
  f.retry_after_s = 1;
  EXPECT_EQ(after_failure(f).action, action::stop);
}

}  // namespace

#include "agent/retry.hpp"

#include <gtest/gtest.h>

#include "ry/abi.h"

using namespace runs;
using what = next_try::what;

namespace {

failed_attempt attempt(std::int32_t status, std::int64_t tries = 1) {
  return {.status = status, .tries = tries, .max_tries = 4, .remaining_ms = 1'000'000};
}

TEST(retry_test, only_transient_errors_are_retried) {
  for (std::int32_t st : {RY_RESOURCE_EXHAUSTED, RY_UNAVAILABLE, RY_DEADLINE_EXCEEDED})
    EXPECT_EQ(after_failure(attempt(st)).how, what::same_model) << st;
  for (std::int32_t st : {RY_INVALID_ARGUMENT, RY_UNAUTHENTICATED, RY_NOT_FOUND, RY_OUT_OF_RANGE})
    EXPECT_EQ(after_failure(attempt(st)).how, what::stop) << st;
  EXPECT_EQ(after_failure(attempt(RY_UNAVAILABLE, 4)).how, what::stop);
  EXPECT_EQ(after_failure(attempt(RY_DATA_LOSS, 1)).how, what::same_model);
  EXPECT_EQ(after_failure(attempt(RY_DATA_LOSS, 2)).how, what::stop) << "garbled twice is no accident";
}

TEST(retry_test, another_model_is_asked_when_there_is_one) {
  failed_attempt f = attempt(RY_UNAUTHENTICATED);
  f.has_fallback = true;
  EXPECT_EQ(after_failure(f).how, what::next_model);
  EXPECT_EQ(after_failure(f).wait_ms, 0u);
  f = attempt(RY_UNAVAILABLE, 4);
  f.has_fallback = true;
  EXPECT_EQ(after_failure(f).how, what::next_model);
}

TEST(retry_test, back_off_grows_and_leaves_half_to_chance) {
  const std::uint64_t most[] = {500, 1000, 2000, 4000, 8000, 16000, 16000};
  for (std::int64_t n = 1; n <= 7; ++n) {
    failed_attempt f = attempt(RY_UNAVAILABLE, n);
    f.max_tries = 100;
    EXPECT_EQ(after_failure(f).wait_ms, most[n - 1]);
    f.random = UINT32_MAX;
    EXPECT_GE(after_failure(f).wait_ms, most[n - 1] / 2);
    EXPECT_LT(after_failure(f).wait_ms, most[n - 1] / 2 + 2);
  }
}

TEST(retry_test, the_providers_word_counts) {
  failed_attempt f = attempt(RY_RESOURCE_EXHAUSTED);
  f.retry_after_s = 90;
  EXPECT_EQ(after_failure(f).wait_ms, 90'000u);
  f.random = UINT32_MAX;
  EXPECT_GE(after_failure(f).wait_ms, 90'000u) << "never earlier than the provider says";
  f.retry_after_s = 121;
  EXPECT_EQ(after_failure(f).how, what::stop);
  f.retry_after_s = 6;
  f.has_fallback = true;
  EXPECT_EQ(after_failure(f).how, what::next_model);
  f.retry_after_s = 5;
  EXPECT_EQ(after_failure(f).how, what::same_model);
}

TEST(retry_test, no_retry_waits_beyond_the_deadline_of_the_run) {
  failed_attempt f = attempt(RY_UNAVAILABLE);
  f.remaining_ms = 500;
  EXPECT_EQ(after_failure(f).how, what::stop);
  f.remaining_ms = 501;
  EXPECT_EQ(after_failure(f).how, what::same_model);
  f.retry_after_s = 1;
  EXPECT_EQ(after_failure(f).how, what::stop);
}

}  // namespace

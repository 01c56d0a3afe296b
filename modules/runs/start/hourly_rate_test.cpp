#include "start/hourly_rate.hpp"

#include <gtest/gtest.h>

namespace {

using runs::hourly_rate;

constexpr std::int64_t second = 1'000'000;

TEST(hourly_rate, refills_within_an_hour) {
  hourly_rate rate;
  EXPECT_EQ(rate.wait_seconds("a", 1000, 1000, 0), 0);
  rate.add("a", 1000, 1000, 0);
  EXPECT_EQ(rate.wait_seconds("b", 1000, 1000, 0), 0) << "each account has its own bucket";
  EXPECT_EQ(rate.wait_seconds("a", 500, 1000, 0), 1801);
  EXPECT_EQ(rate.wait_seconds("a", 500, 1000, 1800 * second), 0);
  rate.add("a", 500, 1000, 1800 * second);
  EXPECT_GT(rate.wait_seconds("a", 1, 1000, 1800 * second), 0);
  EXPECT_EQ(rate.wait_seconds("a", 1000, 1000, 5400 * second), 0);
}

TEST(hourly_rate, a_prompt_larger_than_the_limit_waits_for_a_full_bucket) {
  hourly_rate rate;
  EXPECT_EQ(rate.wait_seconds("a", 5000, 1000, 0), 0);
  rate.add("a", 5000, 1000, 0);
  EXPECT_GT(rate.wait_seconds("a", 5000, 1000, 4 * 3600 * second), 0);
  EXPECT_EQ(rate.wait_seconds("a", 5000, 1000, 5 * 3600 * second), 0);
}

TEST(hourly_rate, removes_full_buckets) {
  hourly_rate rate;
  for (int i = 0; i < 5000; ++i) rate.add(std::to_string(i), 1, 1000, i * 60 * second);
  EXPECT_EQ(rate.wait_seconds("4999", 1000, 1000, 4999 * 60 * second), 4) << "a removed bucket is full";
  EXPECT_EQ(rate.wait_seconds("0", 1000, 1000, 4999 * 60 * second), 0);
}

}  // namespace

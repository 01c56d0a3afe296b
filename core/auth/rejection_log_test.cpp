#include "core/auth/rejection_log.hpp"

#include <gtest/gtest.h>

using namespace ry::auth;

TEST(rejection_log, lines_are_rate_limited_and_the_budget_refills) {
  rejection_log log;
  constexpr std::int64_t start = 1'700'000'000'000'000, minute = 60'000'000;
  int admitted = 0;
  for (int i = 0; i < 1000; ++i) admitted += log.admit(start);
  EXPECT_EQ(admitted, 20);
  for (int i = 0; i < 1000; ++i) admitted += log.admit(start + minute);
  EXPECT_EQ(admitted, 40);
  EXPECT_FALSE(log.admit(start)) << "a clock that is set back refills nothing";
  for (int i = 0; i < 1000; ++i) admitted += log.admit(start + 100 * minute);
  EXPECT_EQ(admitted, 60) << "the budget does not accumulate";
}

TEST(rejection_log, quoted_input_is_short_and_printable) {
  EXPECT_EQ(for_log("https://id.example/\x1b[31m\n\xc3\xa4"), "https://id.example/?[31m???");
  EXPECT_EQ(for_log(std::string(5000, 'x')).size(), 200u);
}

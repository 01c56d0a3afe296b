#include "start/outcome.hpp"

#include <gtest/gtest.h>

using runs::is_granted;
using runs::name_of;
using runs::refusal_of;
using runs::start_outcome;
using runs::start_outcome_of;

TEST(start_outcome_test, names_convert_back_to_their_outcomes) {
  for (int i = 0; i <= static_cast<int>(start_outcome::apart); ++i) {
    const auto o = static_cast<start_outcome>(i);
    EXPECT_FALSE(name_of(o).empty()) << i;
    EXPECT_EQ(start_outcome_of(name_of(o)), o) << name_of(o);
  }
  EXPECT_EQ(start_outcome_of("granted"), std::nullopt);
}

TEST(start_outcome_test, only_refusals_have_a_status) {
  EXPECT_EQ(refusal_of(start_outcome::thread_not_found).http_status, 404u);
  EXPECT_EQ(refusal_of(start_outcome::key_reused).http_status, 409u);
  for (const auto o : {start_outcome::ok, start_outcome::queued, start_outcome::replay, start_outcome::tier})
    EXPECT_EQ(refusal_of(o).http_status, 0u) << name_of(o);
}

TEST(start_outcome_test, a_queued_run_exists) {
  EXPECT_TRUE(is_granted(start_outcome::ok));
  EXPECT_TRUE(is_granted(start_outcome::queued));
  EXPECT_FALSE(is_granted(start_outcome::replay));
  EXPECT_FALSE(is_granted(start_outcome::run_limit));
}

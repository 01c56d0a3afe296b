#include "types/budget.hpp"

#include <gtest/gtest.h>

#include "text.hpp"

using namespace runs;

namespace {

money with(std::int64_t charged, budget_policy policy) {
  return {std::optional<std::int64_t>(1), true, charged, budget{1000, policy}};
}

TEST(budget_test, policy_names_round_trip) {
  for (budget_policy p : {budget_policy::hard, budget_policy::soft, budget_policy::finish_turn})
    EXPECT_EQ(budget_policy_of(name_of(p)), p);
  EXPECT_FALSE(budget_policy_of("HARD"));
  EXPECT_FALSE(budget_policy_of(""));
}

TEST(budget_test, a_budget_is_exceeded_when_it_is_reached) {
  using enum spending_step;
  EXPECT_EQ(may_spend(with(999, budget_policy::hard), ask_model), budget_verdict::allowed);
  EXPECT_EQ(may_spend(with(1000, budget_policy::hard), ask_model), budget_verdict::over_budget);
  EXPECT_EQ(may_spend(with(1000, budget_policy::hard), make_calls), budget_verdict::over_budget);
  EXPECT_EQ(may_spend(with(5000, budget_policy::finish_turn), make_calls), budget_verdict::allowed);
  EXPECT_EQ(may_spend(with(5000, budget_policy::finish_turn), ask_model), budget_verdict::over_budget);
  EXPECT_EQ(may_spend(with(5000, budget_policy::soft), ask_model), budget_verdict::allowed);
}

TEST(budget_test, missing_credits_take_precedence_over_the_budget) {
  money m = with(5000, budget_policy::hard);
  m.balance_micro = 0;
  EXPECT_EQ(may_spend(m, spending_step::ask_model), budget_verdict::no_credits);
  m.priced = false;
  EXPECT_EQ(may_spend(m, spending_step::ask_model), budget_verdict::over_budget);
  m.spending = {};
  EXPECT_EQ(may_spend(m, spending_step::ask_model), budget_verdict::allowed) << "a free model needs no credits";
  m.priced = true;
  m.balance_micro.reset();
  EXPECT_EQ(may_spend(m, spending_step::ask_model), budget_verdict::allowed)
      << "an unknown balance does not block: the start has checked it";
}

TEST(budget_test, a_soft_budget_warns_once) {
  const budget soft{1000, budget_policy::soft};
  EXPECT_FALSE(crosses_soft_budget(soft, 999, 999));
  EXPECT_TRUE(crosses_soft_budget(soft, 1000, 1));
  EXPECT_TRUE(crosses_soft_budget(soft, 5000, 5000));
  EXPECT_FALSE(crosses_soft_budget(soft, 5000, 100));
  EXPECT_FALSE(crosses_soft_budget({1000, budget_policy::hard}, 1000, 1));
  EXPECT_FALSE(crosses_soft_budget({}, 1000, 1000));
}

TEST(budget_test, parses_credits) {
  EXPECT_EQ(micro_of_credits("1.5"), 1500000);
  EXPECT_EQ(micro_of_credits("0.000001"), 1);
  EXPECT_EQ(micro_of_credits("7"), 7000000);
  EXPECT_EQ(micro_of_credits("1000000000"), 1000000000000000);
  for (const char* bad :
       {"", ".", "1.", ".5", "-1", "+1", "1e3", "0.0000001", "1000000000.1", "12345678901", "1,5", " 1"})
    EXPECT_FALSE(micro_of_credits(bad)) << bad;
}

}  // namespace

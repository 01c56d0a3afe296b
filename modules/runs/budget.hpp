// What a run may cost, by its starter's wish, and what the money says at each border. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace runs {

// hard: the calls of the answer that used the budget up are not made. finish_turn: they are made, then
// no model is asked any more. soft: the run is warned of and goes on.
enum class budget_policy { hard, soft, finish_turn };
std::string_view name_of(budget_policy policy);
std::optional<budget_policy> budget_policy_of(std::string_view name);

struct budget {
  std::int64_t micro = 0;  // 0: none
  budget_policy policy = budget_policy::hard;
  bool set() const { return micro > 0; }
  bool operator==(const budget&) const = default;
};

struct money {
  std::optional<std::int64_t> balance_micro;  // of the account, as last seen
  bool priced = false;                        // the model that would be asked costs something
  std::int64_t charged_micro = 0;             // for the run so far
  budget spending;
};

// What is about to be done.
enum class spending_step { ask_model, make_calls };
enum class money_says { go_on, no_credits, over_budget };
// Both steps are refused without credits; a model without a price needs none.
money_says may_spend(const money& m, spending_step step);
// An answer for `charge` used a soft budget up that had not been used up before.
bool warns(const budget& b, std::int64_t charged_after, std::int64_t charge);

}  // namespace runs

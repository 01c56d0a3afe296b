// The budget that a run's start request sets, and the check at each checkpoint. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace runs {

// Reaction to an answer that exceeds the budget. hard: its tool calls are not made. finish_turn: they are made, but no
// further model request is sent. soft: the run gets a warning and continues.
enum class budget_policy { hard, soft, finish_turn };
std::string_view name_of(budget_policy policy);
std::optional<budget_policy> budget_policy_of(std::string_view name);

struct budget {
  std::int64_t micro = 0;  // 0: no budget
  budget_policy policy = budget_policy::hard;
  bool set() const { return micro > 0; }
  bool operator==(const budget&) const = default;
};

struct money {
  std::optional<std::int64_t> balance_micro;  // of the account, as last read
  bool priced = false;  // the next model has a price
  std::int64_t charged_micro = 0;  // for the run so far
  budget spending;
};

// The next step of the run.
enum class spending_step { ask_model, make_calls };
enum class budget_verdict { allowed, no_credits, over_budget };
// Without credits, neither step is allowed; a model without a price needs no credits.
budget_verdict may_spend(const money& m, spending_step step);
// Whether the answer that cost `charge` is the first to reach a soft budget.
bool crosses_soft_budget(const budget& b, std::int64_t charged_after, std::int64_t charge);

}  // namespace runs

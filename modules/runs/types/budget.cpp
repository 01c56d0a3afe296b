#include "types/budget.hpp"

namespace runs {

std::string_view name_of(budget_policy policy) {
  switch (policy) {
    case budget_policy::soft:
      return "soft";
    case budget_policy::finish_turn:
      return "finish_turn";
    case budget_policy::hard:
      break;
  }
  return "hard";
}

std::optional<budget_policy> budget_policy_of(std::string_view name) {
  for (budget_policy p : {budget_policy::hard, budget_policy::soft, budget_policy::finish_turn})
    if (name == name_of(p)) return p;
  return std::nullopt;
}

budget_verdict may_spend(const money& m, spending_step step) {
  if (m.priced && m.balance_micro && *m.balance_micro <= 0) return budget_verdict::no_credits;
  if (!m.spending.set() || m.charged_micro < m.spending.micro) return budget_verdict::allowed;
  switch (m.spending.policy) {
    case budget_policy::hard:
      return budget_verdict::over_budget;
    case budget_policy::finish_turn:
      return step == spending_step::ask_model ? budget_verdict::over_budget : budget_verdict::allowed;
    case budget_policy::soft:
      break;
  }
  return budget_verdict::allowed;
}

bool crosses_soft_budget(const budget& b, std::int64_t charged_after, std::int64_t charge) {
  return b.set() && b.policy == budget_policy::soft && charged_after >= b.micro && charged_after - charge < b.micro;
}

}  // namespace runs

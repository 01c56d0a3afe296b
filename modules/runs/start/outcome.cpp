#include "start/outcome.hpp"

#include <algorithm>
#include <iterator>

namespace runs {
namespace {

struct outcome_row {
  start_outcome outcome;
  std::string_view name;
  start_refusal refusal;
};

constexpr outcome_row outcomes[] = {
    {start_outcome::ok, "ok", {}},
    {start_outcome::queued, "queued", {}},
    {start_outcome::replay, "replay", {}},
    {start_outcome::no_account, "no_account", {401, "Not authenticated"}},
    {start_outcome::key_reused, "key_reused", {409, "Idempotency-Key was used before with another body"}},
    {start_outcome::prompt_required, "prompt_required", {400, "prompt required when creating new thread"}},
    {start_outcome::thread_not_found, "thread_not_found", {404, "Thread not found"}},
    {start_outcome::project_not_found, "project_not_found", {404, "Project not found"}},
    {start_outcome::agent_not_found, "agent_not_found", {404, "Worker not found"}},
    {start_outcome::model_denied, "model_denied", {}},
    {start_outcome::no_credits, "no_credits", {}},
    {start_outcome::thread_limit, "thread_limit", {}},
    {start_outcome::run_limit, "run_limit", {}},
    {start_outcome::thread_busy, "thread_busy", {}},
    {start_outcome::tier, "tier", {}},
    {start_outcome::model, "model", {}},
    {start_outcome::alone, "alone", {}},
    {start_outcome::apart, "apart", {}},
};

const outcome_row& row_of(start_outcome o) {
  return *std::find_if(std::begin(outcomes), std::end(outcomes), [o](const outcome_row& r) { return r.outcome == o; });
}

}  // namespace

std::string_view name_of(start_outcome o) {
  return row_of(o).name;
}

std::optional<start_outcome> start_outcome_of(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(outcomes), std::end(outcomes), [name](const outcome_row& r) { return r.name == name; });
  return found == std::end(outcomes) ? std::nullopt : std::optional(found->outcome);
}

start_refusal refusal_of(start_outcome o) {
  return row_of(o).refusal;
}

}  // namespace runs

// The outcomes of a start, and the response to each. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace runs {

enum class start_outcome {
  ok,
  queued,  // made; waits for a slot or for the thread's earlier run
  replay,  // answered before under the same Idempotency-Key
  no_account,
  key_reused,
  prompt_required,
  thread_not_found,
  project_not_found,
  agent_not_found,
  model_denied,
  no_credits,
  thread_limit,
  run_limit,
  thread_busy,
  // Nothing was written, and the start is tried again:
  tier,  // the account has another tier than this node knew
  model,  // the agent names a model that this node has to check first
  alone,  // another transaction locks the account
  apart,  // it cannot share a statement with others
};

// The response to a refused start, if it has no details.
struct start_refusal {
  std::uint32_t http_status = 0;  // 0: the outcome is no refusal, or its response has details
  std::string_view sentence;
};

// The word of the SQL functions and of the metric runyard_runs_starts_total.
std::string_view name_of(start_outcome o);
// nullopt: not one of these.
std::optional<start_outcome> start_outcome_of(std::string_view name);
start_refusal refusal_of(start_outcome o);

// The run exists, though it may have to wait.
constexpr bool is_granted(start_outcome o) {
  return o == start_outcome::ok || o == start_outcome::queued;
}

}  // namespace runs

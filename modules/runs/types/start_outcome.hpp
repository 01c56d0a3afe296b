// The outcomes of a start, and the response to each. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runs {

enum class start_outcome {
  ok,
  queued,  // the run exists; it waits for a slot or for the thread's earlier run
  joined,  // the prompt has joined the thread's run in progress
  replay,  // an earlier start had the same Idempotency-Key
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
  prompts_full,  // the run in progress has too many pending prompts
  // Nothing was written, and the start is retried:
  tier,  // the account has a different tier than this node assumed
  model,  // the agent names a model that this node has to check first
  alone,  // another transaction locks the account
  apart,  // it cannot share a statement with others
};

// What the responses to refused starts can contain.
struct refusal_values {
  std::string_view tier, model;
  std::int64_t max_threads = 0, max_runs = 0;
  // JSON of the SQL function: the number of threads, the list of running threads, or the run in progress (without quotes).
  std::string_view detail;
};
struct start_refusal {
  std::uint32_t http_status = 0;  // 0: the outcome is not a refusal
  std::string message;
  std::string detail_json;  // empty: the response contains only the message
};

// The name in the results of the SQL functions and in the metric runyard_runs_starts_total.
std::string_view name_of(start_outcome o);
// nullopt: unknown name.
std::optional<start_outcome> start_outcome_of(std::string_view name);
start_refusal refusal_of(start_outcome o, const refusal_values& values = {});

// Whether the run exists, even if it has to wait.
constexpr bool is_granted(start_outcome o) {
  return o == start_outcome::ok || o == start_outcome::queued;
}

}  // namespace runs

#include "types/start_outcome.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <iterator>
#include <utility>

#include "text.hpp"

namespace runs {
namespace {

struct outcome_row {
  start_outcome outcome;
  std::string_view name;
  std::uint32_t http_status = 0;  // 0: not a refusal
  std::string_view message;  // {tier}, {model}, {max_threads} and {max_runs} are replaced
  std::string_view error_code;  // empty: the response contains only the message
};

constexpr outcome_row outcomes[] = {
    {start_outcome::ok, "ok"},
    {start_outcome::queued, "queued"},
    {start_outcome::joined, "joined"},
    {start_outcome::replay, "replay"},
    {start_outcome::no_account, "no_account", 401, "Not authenticated"},
    {start_outcome::key_reused, "key_reused", 409, "Idempotency-Key was used before with a different body"},
    {start_outcome::prompt_required, "prompt_required", 400, "prompt required when creating new thread"},
    {start_outcome::thread_not_found, "thread_not_found", 404, "Thread not found"},
    {start_outcome::project_not_found, "project_not_found", 404, "Project not found"},
    {start_outcome::agent_not_found, "agent_not_found", 404, "Worker not found"},
    {start_outcome::model_denied, "model_denied", 402, "Your plan ({tier}) does not include the model {model}",
     "MODEL_ACCESS_DENIED"},
    {start_outcome::no_credits, "no_credits", 402, "Insufficient credits", "INSUFFICIENT_CREDITS"},
    {start_outcome::thread_limit, "thread_limit", 402,
     "You have reached the limit of {max_threads} threads of your plan", "THREAD_LIMIT_EXCEEDED"},
    {start_outcome::run_limit, "run_limit", 402,
     "You have reached the limit of {max_runs} concurrent runs of your plan", "AGENT_RUN_LIMIT_EXCEEDED"},
    {start_outcome::thread_busy, "thread_busy", 409, "The thread has a run in progress", "THREAD_BUSY"},
    {start_outcome::prompts_full, "prompts_full", 429,
     "Too many prompts wait for the next step of the run in progress; try again later", "PENDING_PROMPTS_EXCEEDED"},
    {start_outcome::tier, "tier"},
    {start_outcome::model, "model"},
    {start_outcome::alone, "alone"},
    {start_outcome::apart, "apart"},
};

const outcome_row& row_of(start_outcome o) {
  return *std::find_if(std::begin(outcomes), std::end(outcomes), [o](const outcome_row& r) { return r.outcome == o; });
}

std::string filled(std::string_view text, const refusal_values& values) {
  const std::pair<std::string_view, std::string> names[] = {{"{tier}", std::string(values.tier)},
                                                            {"{model}", std::string(values.model)},
                                                            {"{max_threads}", std::to_string(values.max_threads)},
                                                            {"{max_runs}", std::to_string(values.max_runs)}};
  std::string out(text);
  std::size_t at = 0;  // values are not searched for names
  while ((at = out.find('{', at)) != out.npos) {
    const auto* found = std::find_if(std::begin(names), std::end(names),
                                     [&](const auto& n) { return out.compare(at, n.first.size(), n.first) == 0; });
    if (found == std::end(names)) {
      ++at;
      continue;
    }
    out.replace(at, found->first.size(), found->second);
    at += found->second.size();
  }
  return out;
}

// The members between "message" and "error_code".
std::string members_of(start_outcome o, const refusal_values& values) {
  const std::string detail(values.detail);
  switch (o) {
    case start_outcome::model_denied:
      return ",\"tier_name\":" + json_string(values.tier);
    case start_outcome::thread_limit:
      return ",\"current_count\":" + detail + ",\"limit\":" + std::to_string(values.max_threads);
    case start_outcome::run_limit: {
      const std::size_t count = boost::json::parse(detail).as_array().size();
      return ",\"running_thread_ids\":" + detail + ",\"running_count\":" + std::to_string(count) +
             ",\"limit\":" + std::to_string(values.max_runs);
    }
    case start_outcome::thread_busy:
    case start_outcome::prompts_full:
      return ",\"agent_run_id\":" + json_string(values.detail);
    default:
      return {};
  }
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

start_refusal refusal_of(start_outcome o, const refusal_values& values) {
  const outcome_row& row = row_of(o);
  start_refusal out{row.http_status, filled(row.message, values), {}};
  if (!row.error_code.empty())
    out.detail_json = "{\"message\":" + json_string(out.message) + members_of(o, values) + ",\"error_code\":\"" +
                      std::string(row.error_code) + "\"}";
  return out;
}

}  // namespace runs

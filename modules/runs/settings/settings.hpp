// The module's settings, with models and prices. Read once in create(); immutable afterwards.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ry/svc/accounts.h"
#include "settings/model_parameters.hpp"
#include "settings/tool_policy.hpp"

namespace ry {
class settings_faults;
}

namespace runs {

// Micro-credits per million tokens.
struct price {
  std::int64_t input = 0, output = 0, cached_input = 0, cache_write = 0;
  bool free() const { return input == 0 && output == 0 && cached_input == 0 && cache_write == 0; }
};

struct token_usage {
  std::int64_t input = 0, output = 0, cached = 0, cache_write = 0;  // input includes cached and cache_write

  token_usage& operator+=(const token_usage& more) {
    input += more.input;
    output += more.output;
    cached += more.cached;
    cache_write += more.cache_write;
    return *this;
  }
};

// The charge for the usage, rounded to the micro-credit; half a micro-credit rounds up.
std::int64_t charge_micro(const price& p, const token_usage& usage);

struct provider_settings {
  std::string name, kind, config_json;
};

struct model_target {
  std::string provider, model;  // name of the provider in the settings, and the name by which it knows the model
};

// An endpoint that is notified of the end of runs.
struct webhook_endpoint {
  std::string name, url, key;  // key: the decoded secret
  std::vector<std::string> statuses;  // empty: all statuses
};

struct settings {
  std::vector<provider_settings> providers;
  std::map<std::string, std::string, std::less<>> models;  // alias -> "<provider>/<model>"
  std::map<std::string, price, std::less<>> prices;  // by alias or "<provider>/<model>"
  std::map<std::string, std::int64_t, std::less<>> context_tokens;  // the same keys
  std::map<std::string, std::int64_t, std::less<>> max_tools;  // the same keys
  std::map<std::string, bool, std::less<>> vision;
  std::map<std::string, model_parameters, std::less<>> model_options;  // the same keys
  std::map<std::string, std::vector<std::string>, std::less<>> fallbacks;  // the same keys
  std::map<std::string, std::string, std::less<>> downgrades;  // requested alias -> replacement
  std::string default_model;
  std::string sandbox_driver;  // empty: the loaded driver
  std::int64_t timeout_seconds = 3000;
  std::int64_t max_steps = 100;
  std::int64_t max_attempts = 4;  // per model response
  std::int64_t max_continuations = 2;  // of a response that was truncated at the output limit
  std::int64_t max_waiting_runs = 100;  // of an account
  // Prompts that have joined a run and wait for its next step.
  std::int64_t max_pending_prompts = 20, pending_prompt_bytes = 1 << 20;
  std::int64_t max_crashes = 2;
  std::int64_t default_context_tokens = 128'000;
  std::int64_t max_parallel_tools = 8;  // of one response
  std::int64_t tool_timeout_seconds = 600;
  std::int64_t tool_search_from = 0;  // number of an agent's tools; 0: only above the provider's limit
  std::int64_t repeat_limit = 5;  // of the same call with the same result; 0: no limit
  std::int64_t drain_seconds = 10;
  std::int64_t event_retention_seconds = 30 * 86'400;
  std::int64_t max_output_tokens = 0;  // 0: the provider's default
  std::int64_t upload_total_bytes = 0;
  std::int64_t upload_text_bytes = 0;  // of the text of one file
  std::int64_t upload_read_seconds = 0;  // for reading all files of one start
  std::int64_t image_cache_bytes = 0;  // scaled images in memory
  std::string extract_program;  // empty: in the directory of the server's program
  std::int64_t workspace_bytes = 0;  // of one project, as stored in the database
  std::int64_t workspace_file_bytes = 0;  // of one file
  std::int64_t workspace_files = 0;  // files, directories and links of one project
  // Limits for all projects of an account by tier, on a node's disk and in the database.
  std::map<std::string, std::int64_t> account_workspace_bytes, account_workspace_files;
  std::map<std::string, std::int64_t> account_prompt_bytes;  // limit of an account by tier, per hour and node
  std::int64_t max_live_runs = 20000;
  std::int64_t sandboxes = 0, account_sandboxes = 16;  // concurrent commands on this node; 0: no limit
  std::int64_t max_queued_runs = 100'000;  // of all nodes together
  std::map<std::string, std::int64_t> queue_percent;  // share of max_queued_runs by tier; no entry: 100
  std::vector<webhook_endpoint> webhooks;
  tool_policy tools;  // which calls need an approval
  std::int64_t approval_timeout_seconds = 86'400;
  std::string approval_on_timeout = "deny";  // or stop
  bool ask_user = false;  // agents can ask the person, unless the start decides
  bool elicitation = false;  // tools can request input from the person, unless the start decides
  std::int64_t max_questions = 20;  // of a run
  std::int64_t question_hold_seconds = 300;  // how long an open call waits for an answer
  std::int64_t park_slot_seconds = 60;  // how long a run that waits for an approval occupies a slot
  std::int64_t max_remembered_approvals = 1000;  // per account
  std::int64_t decision_requests_per_hour = 600;  // per client network
  std::string system_prompt;
  std::string code_instructions;  // appended to the system prompt of runs in code mode

  // The provider and model of an alias or of a name "<provider>/<model>". nullopt: no such model.
  std::optional<model_target> target(std::string_view name) const;
  // Names of the webhooks that subscribe to this status.
  std::vector<std::string> webhooks_for(std::string_view status) const;
  price price_of(std::string_view name) const;
  // The context window of a model in tokens, for input and output together.
  std::int64_t window_of(std::string_view name) const;
  // Maximum number of tools of one request to the model, as configured; 0: the provider's limit.
  std::size_t max_tools_of(std::string_view name) const;
  // Whether a model accepts images.
  bool sees(std::string_view name) const;
  // Parameters of a model's requests unless the start request sets them; includes runs.max_output_tokens.
  model_parameters options_of(std::string_view name) const;
  // The model, followed by its fallbacks in order.
  std::vector<std::string> chain(std::string_view name) const;
};

// The value of a tier; a tier without an entry has the value of "free".
std::int64_t by_tier(const std::map<std::string, std::int64_t>& values, std::string_view tier);

}  // namespace runs

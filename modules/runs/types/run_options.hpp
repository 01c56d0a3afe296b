// Options of a start that few runs have: texts for the model, and tools of the client. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "settings/model_parameters.hpp"
#include "settings/tool_policy.hpp"

namespace runs {

struct run_options {
  std::string system;  // replaces the agent's prompt; empty: the agent's prompt is used
  std::string instructions;  // follow the agent's prompt; empty: none
  // Tools that the client executes: a JSON array as read_client_tools() returns it; empty: none.
  std::string client_tools;
  std::string output_schema;  // the JSON Schema of the final answer; empty: none
  std::vector<tool_rule> tool_rules;  // make the operator's policy stricter
  // Whether a run with a call of a client tool waits for its result; otherwise it ends as completed.
  bool parks_client_calls = false;
  std::optional<bool> questions;  // whether the agent and its tools can ask the person; nullopt: as configured
  bool has_webhook = false;  // the start named a webhook
  bool continue_truncated = true;  // false: an answer that reaches the output limit ends the run

  bool empty() const { return *this == run_options(); }
  bool operator==(const run_options&) const = default;
};

// Validates a JSON array of {"name", "description", "parameters"} and sets `tools` to it, without other members. Returns
// an error message that begins with the name of the member, or an empty string.
std::string read_client_tools(std::string_view json, std::string& tools);

// Both as the JSON object that runs.parameters stores; empty: the run has neither.
std::string stored_parameters(const model_parameters& parameters, const run_options& options);
// The options in such an object; read_parameters() reads the parameters.
run_options read_options(std::string_view json);

}  // namespace runs

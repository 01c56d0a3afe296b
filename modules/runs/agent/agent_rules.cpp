#include "agent/agent_rules.hpp"

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "module_context.hpp"

namespace runs {
namespace {

struct versioned_rules {
  std::int32_t version = 0;
  std::vector<tool_rule> rules;
};

versioned_rules rules_of_view(const ry_agent_view* agent) {
  versioned_rules out{agent->version, {}};
  if (!RY_HAS(agent, ry_agent_view, tool_policy_json)) return out;
  const std::string problem =
      read_tool_rules("tool_policy", boost::json::parse(ry::view(agent->tool_policy_json)), out.rules);
  if (!problem.empty()) throw ry::internal("runs.agent_rules", "the agent's " + problem);
  return out;
}

// version 0: the current one. nullopt: the agent was deleted.
ry::task<std::optional<versioned_rules>> find_rules(module_context& p, std::shared_ptr<live_run> run,
                                                    std::int32_t version) {
  const std::string account = run->who.account.to_string(), agent = run->who.agent.to_string();
  ry::result<versioned_rules> found = co_await ry::call<versioned_rules, const ry_agent_view*>(
      [&](ry_exec* exec, ry_agent_fn fn, void* ctx) {
        return p.agents->get(p.agents.self(), ry::str(account), ry::str(agent), version, exec, fn, ctx);
      },
      rules_of_view);
  if (found) co_return std::move(*found);
  if (found.error().status() == RY_NOT_FOUND) co_return std::nullopt;
  throw found.error();
}

}  // namespace

ry::task<void> read_agent_rules(module_context& p, std::shared_ptr<live_run> run) {
  run_progress& progress = run->progress;
  std::optional<versioned_rules> current = co_await find_rules(p, run, 0);
  if (!progress.rules_of_version && current) {
    if (current->version == run->who.agent_version) {
      progress.rules_of_version = current->rules;
    } else {
      std::optional<versioned_rules> of_version = co_await find_rules(p, run, run->who.agent_version);
      if (of_version) progress.rules_of_version = std::move(of_version->rules);
    }
  }
  progress.added = {};
  if (run->who.options) progress.added.push_back(run->who.options->tool_rules);
  if (current) progress.rules_of_current_version = std::move(current->rules);
  progress.added.push_back(progress.rules_of_current_version);
  // The policy of an agent that was deleted before this worker read it is unknown, so a person decides.
  if (progress.rules_of_version)
    progress.added.push_back(*progress.rules_of_version);
  else
    progress.added.push_back(std::vector<tool_rule>{tool_rule{"*", {}, tool_action::ask}});
}

}  // namespace runs

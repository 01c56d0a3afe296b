// Which tool calls need an approval, or are denied. Pure.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/tool_rules.hpp"

namespace runs {

using tool_rules::read_tool_rules;
using tool_rules::rules_json;
using tool_rules::tool_action;
using tool_rules::tool_rule;

// The action for tools without a matching rule. risk: tools that are known to be read-only run, all others need an
// approval.
enum class tool_default { run, risk };

struct tool_policy {
  std::vector<tool_rule> rules;  // the first one that matches applies
  tool_default otherwise = tool_default::run;
};

// Lists of rules that can only make the policy stricter: those of the start and of the agent. In each list, the first rule
// that matches applies.
using added_rules = std::vector<std::vector<tool_rule>>;

// The strictest of the actions by the policy and by each of the added lists. `arguments`: JSON object text; if it is not, or
// the work would be too much, rules that ask or deny apply regardless of their conditions.
tool_action action_for(const tool_policy& policy, const added_rules& added, std::string_view tool, bool read_only,
                       std::string_view arguments);
// The mildest action that any call of the tool can get, if the tool is not known to be read-only.
tool_action mildest_action_for(const tool_policy& policy, std::string_view tool);
// Whether the policy allows all calls, so that they need not be evaluated.
bool allows_everything(const tool_policy& policy, const added_rules& added);

// Whether the text matches a pattern with * and ?. Each comparison of a character takes one of the budget; nullopt: it is
// used up.
std::optional<bool> matches(std::string_view pattern, std::string_view text, std::size_t& budget);

}  // namespace runs

// Which tool calls need an approval, or are denied. Pure.
#pragma once
#include <boost/json/fwd.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace runs {

// In ascending order of strictness.
enum class tool_action { run, ask, deny };

struct tool_rule {
  std::string match;  // pattern of tool names; * matches any characters, ? matches one
  // Patterns of arguments, all of which must match. Arguments that are not strings are compared as JSON text.
  std::map<std::string, std::string, std::less<>> when;
  tool_action action = tool_action::run;
  bool operator==(const tool_rule&) const = default;
};

// The action for tools without a matching rule. risk: tools that are known to be read-only run, all others need an
// approval.
enum class tool_default { run, risk };

struct tool_policy {
  std::vector<tool_rule> rules;  // the first one that matches applies
  tool_default otherwise = tool_default::run;
};

// `added`: rules of the start, which can only make the policy stricter. `arguments`: JSON object text.
tool_action action_for(const tool_policy& policy, const std::vector<tool_rule>& added, std::string_view tool,
                       bool read_only, std::string_view arguments);
// Whether the policy allows all calls, so that they need not be evaluated.
bool allows_everything(const tool_policy& policy, const std::vector<tool_rule>& added);

// Reads a list of {"match", "when", "action"}. `name`: the name of the list in messages. Returns an error
// message, or an empty string.
std::string read_tool_rules(std::string_view name, const boost::json::value& list, std::vector<tool_rule>& out);
// The inverse of read_tool_rules(), as JSON text.
std::string rules_json(const std::vector<tool_rule>& rules);

// Whether the text matches a pattern with * and ?.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace runs

// Rules of a policy for tool calls: their JSON form, which the settings of runs, a start and an agent share. Pure.
#pragma once
#include <boost/json/fwd.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tool_rules {

// In ascending order of strictness.
enum class tool_action { run, ask, deny };

struct tool_rule {
  std::string match;  // pattern of tool names; * matches any characters, ? matches one
  // Patterns of arguments, all of which must match. Arguments that are not strings are compared as JSON text.
  std::map<std::string, std::string, std::less<>> when;
  tool_action action = tool_action::run;
  bool operator==(const tool_rule&) const = default;
};

// Maximum size of the JSON text of rules that a client sends.
inline constexpr std::size_t max_rules_bytes = 64 << 10;

// Reads a list of {"match", "when", "action"}. `name`: the name of the list in messages. Returns an error
// message, or an empty string.
std::string read_tool_rules(std::string_view name, const boost::json::value& list, std::vector<tool_rule>& out);
// The inverse of read_tool_rules(), as JSON text.
std::string rules_json(const std::vector<tool_rule>& rules);

}  // namespace tool_rules

#include "common/tool_rules.hpp"

#include <boost/json.hpp>
#include <iterator>
#include <optional>

#include "common/unicode.hpp"
#include "json/members.hpp"

namespace tool_rules {

namespace json = boost::json;

namespace {

constexpr std::size_t max_rules = 200, max_conditions = 20, max_pattern = 1000;
constexpr std::string_view action_names[] = {"run", "ask", "deny"};

std::optional<tool_action> action_of(std::string_view name) {
  for (std::size_t i = 0; i < std::size(action_names); ++i)
    if (action_names[i] == name) return static_cast<tool_action>(i);
  return std::nullopt;
}

}  // namespace

std::string read_tool_rules(std::string_view name, const json::value& list, std::vector<tool_rule>& out) {
  const std::string at(name);
  if (!list.is_array()) return at + " must be an array of rules";
  if (list.as_array().size() > max_rules) return at + " must have at most " + std::to_string(max_rules) + " rules";
  for (const json::value& item : list.as_array()) {
    const std::string here = at + "[" + std::to_string(out.size()) + "]";
    if (!item.is_object()) return here + " must be an object";
    const json::object& o = item.as_object();
    for (const auto& member : o)
      if (member.key() != "match" && member.key() != "when" && member.key() != "action")
        return here + " has an unknown member \"" + unicode::clean_name(member.key()) + "\"";
    tool_rule rule;
    rule.match = module_json::text_of(o, "match");
    if (rule.match.empty() || rule.match.size() > max_pattern) return here + ".match must be a pattern of tool names";
    const auto action = action_of(module_json::text_of(o, "action"));
    if (!action) return here + ".action must be run, ask or deny";
    rule.action = *action;
    if (const json::value* when = module_json::member_at(o, "when")) {
      if (!when->is_object() || when->as_object().size() > max_conditions)
        return here + ".when must be an object of at most " + std::to_string(max_conditions) + " patterns";
      for (const auto& condition : when->as_object()) {
        if (!condition.value().is_string()) return here + ".when must have strings as values";
        if (condition.key().size() > max_pattern || condition.value().as_string().size() > max_pattern)
          return here + ".when must have names and patterns of at most " + std::to_string(max_pattern) + " bytes";
        rule.when.emplace(condition.key(), condition.value().as_string());
      }
    }
    out.push_back(std::move(rule));
  }
  return {};
}

std::string rules_json(const std::vector<tool_rule>& rules) {
  json::array out;
  for (const tool_rule& rule : rules) {
    json::object o{{"match", rule.match}, {"action", action_names[static_cast<std::size_t>(rule.action)]}};
    if (!rule.when.empty()) {
      json::object when;
      for (const auto& [argument, pattern] : rule.when) when[argument] = pattern;
      o["when"] = std::move(when);
    }
    out.push_back(std::move(o));
  }
  return json::serialize(out);
}

}  // namespace tool_rules

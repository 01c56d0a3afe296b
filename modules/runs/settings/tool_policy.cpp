#include "settings/tool_policy.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "json/members.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_rules = 200, max_conditions = 20, max_pattern = 1000;
constexpr std::string_view action_names[] = {"run", "ask", "deny"};

std::optional<tool_action> action_of(std::string_view name) {
  for (std::size_t i = 0; i < std::size(action_names); ++i)
    if (action_names[i] == name) return static_cast<tool_action>(i);
  return std::nullopt;
}

bool applies(const tool_rule& rule, std::string_view tool, const json::object& arguments) {
  if (!matches(rule.match, tool)) return false;
  return std::all_of(rule.when.begin(), rule.when.end(), [&](const auto& condition) {
    const json::value* v = arguments.if_contains(condition.first);
    if (v == nullptr) return false;
    return matches(condition.second, v->is_string() ? std::string(v->as_string()) : json::serialize(*v));
  });
}

std::optional<tool_action> first_action(const std::vector<tool_rule>& rules, std::string_view tool,
                                        const json::object& arguments) {
  for (const tool_rule& rule : rules)
    if (applies(rule, tool, arguments)) return rule.action;
  return std::nullopt;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  // Positions to return to if the text after the last * does not match.
  std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

tool_action action_for(const tool_policy& policy, const std::vector<tool_rule>& added, std::string_view tool,
                       bool read_only, std::string_view arguments) {
  boost::system::error_code bad;
  const json::value parsed = json::parse(arguments, bad);
  const json::object none;
  const json::object& values = !bad && parsed.is_object() ? parsed.as_object() : none;
  tool_action out = policy.otherwise == tool_default::risk && !read_only ? tool_action::ask : tool_action::run;
  if (const auto ruled = first_action(policy.rules, tool, values)) out = *ruled;
  if (const auto stricter = first_action(added, tool, values)) out = std::max(out, *stricter);
  return out;
}

bool allows_everything(const tool_policy& policy, const std::vector<tool_rule>& added) {
  const auto all_run = [](const std::vector<tool_rule>& rules) {
    return std::all_of(rules.begin(), rules.end(), [](const tool_rule& r) { return r.action == tool_action::run; });
  };
  return policy.otherwise == tool_default::run && all_run(policy.rules) && all_run(added);
}

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
        return here + " has an unknown member \"" + plain_sentence(member.key()) + "\"";
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

}  // namespace runs

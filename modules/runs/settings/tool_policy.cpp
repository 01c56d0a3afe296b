#include "settings/tool_policy.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

namespace runs {

namespace json = boost::json;

namespace {

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

tool_action action_for(const tool_policy& policy, const added_rules& added, std::string_view tool, bool read_only,
                       std::string_view arguments) {
  boost::system::error_code bad;
  const json::value parsed = json::parse(arguments, bad);
  const json::object none;
  const json::object& values = !bad && parsed.is_object() ? parsed.as_object() : none;
  tool_action out = policy.otherwise == tool_default::risk && !read_only ? tool_action::ask : tool_action::run;
  if (const auto ruled = first_action(policy.rules, tool, values)) out = *ruled;
  for (const std::vector<tool_rule>& rules : added)
    if (const auto stricter = first_action(rules, tool, values)) out = std::max(out, *stricter);
  return out;
}

bool allows_everything(const tool_policy& policy, const added_rules& added) {
  const auto all_run = [](const std::vector<tool_rule>& rules) {
    return std::all_of(rules.begin(), rules.end(), [](const tool_rule& r) { return r.action == tool_action::run; });
  };
  return policy.otherwise == tool_default::run && all_run(policy.rules) &&
         std::all_of(added.begin(), added.end(), all_run);
}

}  // namespace runs

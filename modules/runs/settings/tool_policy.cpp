#include "settings/tool_policy.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "json/exact.hpp"

namespace runs {

namespace json = boost::json;

namespace {

// Character comparisons for one list of rules; about 10 ms. Start and agent have less, because any account can set their
// rules.
constexpr std::size_t operator_budget = 8'000'000, added_budget = 1'000'000;

// Whether the rule applies; nullopt: this cannot be determined within the budget, or the arguments are unknown.
std::optional<bool> applies(const tool_rule& rule, std::string_view tool, const json::object* arguments,
                            std::size_t& budget) {
  const std::optional<bool> named = matches(rule.match, tool, budget);
  if (!named || !*named || rule.when.empty()) return named;
  if (arguments == nullptr) return std::nullopt;
  for (const auto& [name, pattern] : rule.when) {
    const json::value* v = arguments->if_contains(name);
    if (v == nullptr) return false;
    const std::string text = v->is_string() ? std::string(v->as_string()) : json::serialize(*v);
    budget -= std::min(budget, text.size());
    const std::optional<bool> matched = matches(pattern, text, budget);
    if (!matched || !*matched) return matched;
  }
  return true;
}

// A rule whose conditions cannot be determined applies if it is not a rule to run the call.
std::optional<tool_action> first_action(const std::vector<tool_rule>& rules, std::string_view tool,
                                        const json::object* arguments, std::size_t budget) {
  for (const tool_rule& rule : rules)
    if (applies(rule, tool, arguments, budget).value_or(rule.action != tool_action::run)) return rule.action;
  return std::nullopt;
}

}  // namespace

std::optional<bool> matches(std::string_view pattern, std::string_view text, std::size_t& budget) {
  // Positions to return to if the text after the last * does not match.
  std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (budget == 0) return std::nullopt;
    --budget;
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
  const json::value parsed = module_json::parse_exactly(arguments, 2 * json::parse_options().max_depth, bad);
  const json::object* values = bad ? nullptr : parsed.if_object();
  tool_action out = policy.otherwise == tool_default::risk && !read_only ? tool_action::ask : tool_action::run;
  if (const auto ruled = first_action(policy.rules, tool, values, operator_budget)) out = *ruled;
  for (const std::vector<tool_rule>& rules : added)
    if (const auto stricter = first_action(rules, tool, values, added_budget)) out = std::max(out, *stricter);
  return out;
}

tool_action mildest_action_for(const tool_policy& policy, std::string_view tool) {
  tool_action out = tool_action::deny;
  std::size_t budget = operator_budget;
  for (const tool_rule& rule : policy.rules) {
    if (!matches(rule.match, tool, budget).value_or(rule.action != tool_action::run)) continue;
    out = std::min(out, rule.action);
    if (rule.when.empty()) return out;
  }
  return std::min(out, policy.otherwise == tool_default::risk ? tool_action::ask : tool_action::run);
}

bool allows_everything(const tool_policy& policy, const added_rules& added) {
  const auto all_run = [](const std::vector<tool_rule>& rules) {
    return std::all_of(rules.begin(), rules.end(), [](const tool_rule& r) { return r.action == tool_action::run; });
  };
  return policy.otherwise == tool_default::run && all_run(policy.rules) &&
         std::all_of(added.begin(), added.end(), all_run);
}

}  // namespace runs

#include "settings/tool_policy.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

using namespace runs;

namespace {

std::vector<tool_rule> rules(std::string_view json, const std::string& problem = {}) {
  std::vector<tool_rule> out;
  EXPECT_EQ(read_tool_rules("tool_policy", boost::json::parse(json), out), problem) << json;
  return out;
}

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t budget = 100'000'000;
  const std::optional<bool> out = runs::matches(pattern, text, budget);
  EXPECT_TRUE(out.has_value()) << pattern;
  return out.value_or(false);
}

TEST(matches_test, patterns_have_stars_and_question_marks) {
  for (const auto& [pattern, text] : {std::pair{"*", ""},
                                      {"*", "anything"},
                                      {"github__*", "github__merge"},
                                      {"a?c", "abc"},
                                      {"*b*", "abc"},
                                      {"a*b*c", "a-b-b-c"},
                                      {"**", "x"},
                                      {"", ""},
                                      {"a.b", "a.b"}})
    EXPECT_TRUE(matches(pattern, text)) << pattern << " " << text;
  for (const auto& [pattern, text] : {std::pair{"", "a"},
                                      {"a", ""},
                                      {"a?c", "ac"},
                                      {"github__*", "gitlab__merge"},
                                      {"a*c", "ab"},
                                      {"a.b", "axb"},
                                      {"A", "a"},
                                      {"?", ""}})
    EXPECT_FALSE(matches(pattern, text)) << pattern << " " << text;
  // The time for a pattern with many stars is at most proportional to the product of the lengths.
  EXPECT_FALSE(matches(std::string(500, '*') + "b", std::string(20'000, 'a')));
}

TEST(tool_policy_test, the_first_rule_that_matches_applies) {
  tool_policy p;
  p.rules = rules(R"([{"match":"git__*","when":{"branch":"main","force":"true"},"action":"deny"},
                      {"match":"git__*","when":{"branch":"main"},"action":"ask"},
                      {"match":"git__push","action":"run"}, {"match":"*","action":"ask"}])");
  EXPECT_EQ(action_for(p, {}, "git__push", false, R"({"branch":"main","force":true})"), tool_action::deny);
  EXPECT_EQ(action_for(p, {}, "git__push", false, R"({"branch":"main"})"), tool_action::ask);
  EXPECT_EQ(action_for(p, {}, "git__push", false, R"({"branch":"other"})"), tool_action::run);
  EXPECT_EQ(action_for(p, {}, "shell", false, "{}"), tool_action::ask);
  EXPECT_EQ(action_for(p, {}, "git__push", false, "no json"), tool_action::deny);
}

TEST(tool_policy_test, the_mildest_action_of_a_tool) {
  tool_policy p;
  p.rules = rules(R"([{"match":"a__*","when":{"x":"1"},"action":"deny"}, {"match":"a__ask","action":"ask"},
                      {"match":"a__no*","action":"deny"}, {"match":"b__no","when":{"x":"1"},"action":"run"},
                      {"match":"b__no","action":"deny"}])");
  EXPECT_EQ(mildest_action_for(p, "a__ask"), tool_action::ask);
  EXPECT_EQ(mildest_action_for(p, "a__none"), tool_action::deny);
  EXPECT_EQ(mildest_action_for(p, "A__none"), tool_action::run);
  EXPECT_EQ(mildest_action_for(p, "b__no"), tool_action::run);
  EXPECT_EQ(mildest_action_for(p, "a__other"), tool_action::run);
  p.otherwise = tool_default::risk;
  EXPECT_EQ(mildest_action_for(p, "a__other"), tool_action::ask);
}

TEST(tool_policy_test, conditions_that_are_too_much_work_make_the_policy_stricter) {
  const std::string condition = R"("when":{"x":"*)" + std::string(500, 'a') + R"(b"})";
  const std::string arguments = R"({"x":")" + std::string(100'000, 'a') + R"("})";
  for (const auto& [action, expected] :
       {std::pair{"deny", tool_action::deny}, {"ask", tool_action::ask}, {"run", tool_action::run}}) {
    const auto list = rules(R"([{"match":"t",)" + condition + R"(,"action":")" + action + R"("}])");
    EXPECT_EQ(action_for({}, {list}, "t", false, arguments), expected);
    EXPECT_EQ(action_for({list, tool_default::run}, {}, "t", false, arguments), expected);
  }
  std::string nested = "1";
  for (int i = 0; i < 100; ++i) nested = "[" + nested + "]";
  const auto deny = rules(R"([{"match":"t","when":{"x":"y"},"action":"deny"}])");
  EXPECT_EQ(action_for({deny, tool_default::run}, {}, "t", false, R"({"z":)" + nested + "}"), tool_action::deny)
      << "the arguments cannot be read";
  rules(R"([{"match":"t","when":{"x":")" + std::string(1001, 'x') + R"("},"action":"run"}])",
        "tool_policy[0].when must have names and patterns of at most 1000 bytes");
}

TEST(tool_policy_test, a_start_can_only_make_the_policy_stricter) {
  tool_policy p;
  p.rules = rules(R"([{"match":"a","action":"deny"},{"match":"b","action":"ask"},{"match":"c","action":"run"}])");
  const auto weaker = rules(R"([{"match":"*","action":"run"}])"), stricter = rules(R"([{"match":"*","action":"ask"}])");
  EXPECT_EQ(action_for(p, {weaker}, "a", false, "{}"), tool_action::deny);
  EXPECT_EQ(action_for(p, {weaker}, "b", false, "{}"), tool_action::ask);
  EXPECT_EQ(action_for(p, {stricter}, "a", false, "{}"), tool_action::deny);
  EXPECT_EQ(action_for(p, {stricter}, "c", false, "{}"), tool_action::ask);
  EXPECT_EQ(action_for(p, {}, "d", false, "{}"), tool_action::run);
}

TEST(tool_policy_test, of_several_added_lists_the_strictest_action_applies) {
  const auto of_start = rules(R"([{"match":"a","action":"run"},{"match":"*","action":"ask"}])"),
             of_agent = rules(R"([{"match":"b","action":"run"},{"match":"a","action":"deny"}])");
  EXPECT_EQ(action_for({}, {of_start, of_agent}, "a", false, "{}"), tool_action::deny);
  EXPECT_EQ(action_for({}, {of_agent, of_start}, "a", false, "{}"), tool_action::deny);
  EXPECT_EQ(action_for({}, {of_start, of_agent}, "b", false, "{}"), tool_action::ask);
  EXPECT_EQ(action_for({}, {of_agent}, "b", false, "{}"), tool_action::run);
  EXPECT_EQ(action_for({}, {of_agent}, "c", false, "{}"), tool_action::run);
}

TEST(tool_policy_test, the_default_risk_runs_only_read_only_tools) {
  tool_policy p;
  p.otherwise = tool_default::risk;
  p.rules = rules(R"([{"match":"safe__*","action":"run"}])");
  EXPECT_EQ(action_for(p, {}, "read_file", true, "{}"), tool_action::run);
  EXPECT_EQ(action_for(p, {}, "shell", false, "{}"), tool_action::ask);
  EXPECT_EQ(action_for(p, {}, "safe__write", false, "{}"), tool_action::run);
}

TEST(tool_policy_test, a_policy_without_effect_is_detected) {
  tool_policy p;
  EXPECT_TRUE(allows_everything(p, {}));
  p.rules = rules(R"([{"match":"*","action":"run"}])");
  EXPECT_TRUE(allows_everything(p, {}));
  EXPECT_FALSE(
      allows_everything(p, {rules(R"([{"match":"x","action":"run"}])"), rules(R"([{"match":"x","action":"ask"}])")}));
  p.otherwise = tool_default::risk;
  EXPECT_FALSE(allows_everything(p, {}));
}

}  // namespace

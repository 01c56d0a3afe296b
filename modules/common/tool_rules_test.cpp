#include "common/tool_rules.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

using namespace tool_rules;

namespace {

std::vector<tool_rule> rules(std::string_view json, const std::string& problem = {}) {
  std::vector<tool_rule> out;
  EXPECT_EQ(read_tool_rules("tool_policy", boost::json::parse(json), out), problem) << json;
  return out;
}

TEST(tool_rules_test, invalid_rules_are_named) {
  rules("{}", "tool_policy must be an array of rules");
  rules("[1]", "tool_policy[0] must be an object");
  rules(R"([{"action":"ask"}])", "tool_policy[0].match must be a pattern of tool names");
  rules(R"([{"match":"a","action":"run"},{"match":"a","action":"no"}])",
        "tool_policy[1].action must be run, ask or deny");
  rules(R"([{"match":"a","action":"run","then":1}])", "tool_policy[0] has an unknown member \"then\"");
  rules(R"([{"match":"a","action":"run","when":1}])", "tool_policy[0].when must be an object of at most 20 patterns");
  rules(R"([{"match":"a","action":"run","when":{"x":1}}])", "tool_policy[0].when must have strings as values");
}

TEST(tool_rules_test, rules_are_read_as_they_were_written) {
  const auto all = rules(R"([{"match":"a*","when":{"x":"\"1\""},"action":"deny"},{"match":"b","action":"run"}])");
  std::vector<tool_rule> again;
  EXPECT_EQ(read_tool_rules("p", boost::json::parse(rules_json(all)), again), "");
  EXPECT_EQ(again, all);
}

}  // namespace

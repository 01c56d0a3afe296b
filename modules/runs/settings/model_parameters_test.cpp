#include "settings/model_parameters.hpp"

#include <gtest/gtest.h>

using namespace runs;

namespace {

TEST(set_parameter_test, accepts_values_in_range_and_reports_the_others) {
  struct row {
    const char *name, *text, *members;  // members empty: rejected
  };
  const row rows[] = {
      {"temperature", "0.2", "\"temperature\":0.2"},
      {"temperature", "0", "\"temperature\":0"},
      {"temperature", "2", "\"temperature\":2"},
      {"temperature", "2.01", ""},
      {"temperature", "-0.1", ""},
      {"temperature", "nan", ""},
      {"temperature", "inf", ""},
      {"temperature", "hot", ""},
      {"temperature", "1 ", ""},
      {"top_p", "0.95", "\"top_p\":0.95"},
      {"top_p", "1.1", ""},
      {"max_output_tokens", "100", "\"max_output_tokens\":100"},
      {"max_output_tokens", "0", ""},
      {"max_output_tokens", "1.5", ""},
      {"max_output_tokens", "99999999999999999999", ""},
      {"reasoning_effort", "minimal", "\"reasoning_effort\":\"minimal\""},
      {"reasoning_effort", "HIGH", "\"reasoning_effort\":\"high\""},
      {"tool_choice", "auto", "\"tool_choice\":\"auto\""},
      {"tool_choice", "required", "\"tool_choice\":\"required\""},
      {"tool_choice", "{\"name\": \"shell\"}", "\"tool_choice\":{\"name\":\"shell\"}"},
      {"tool_choice", "shell", ""},
      {"tool_choice", "{\"name\":\"\"}", ""},
      {"tool_choice", "{\"name\":\"a\",\"type\":\"function\"}", ""},
      {"tool_choice", "{\"name\":7}", ""},
  };
  for (const row& r : rows) {
    model_parameters p;
    const std::string error = set_parameter(p, r.name, r.text);
    EXPECT_EQ(members_of(p), r.members) << r.name << " " << r.text;
    EXPECT_EQ(error.starts_with("must be "), *r.members == '\0') << r.name << " " << r.text;
  }
}

TEST(read_parameters_test, reads_back_what_members_of_writes) {
  model_parameters p;
  for (const auto& [name, text] : {std::pair{"temperature", "0.0001"},
                                   {"top_p", "0.3"},
                                   {"max_output_tokens", "7"},
                                   {"reasoning_effort", "low"},
                                   {"tool_choice", "{\"name\":\"a\\\"b\"}"}})
    ASSERT_EQ(set_parameter(p, name, text), "");
  EXPECT_EQ(read_parameters("{" + members_of(p) + "}"), p);
  EXPECT_TRUE(read_parameters("{}").empty());
  EXPECT_TRUE(read_parameters("").empty());
  EXPECT_TRUE(read_parameters(R"({"temperature":9,"stop":["x"]})").empty());
}

TEST(merged_test, parameters_are_merged_one_by_one) {
  const model_parameters start = read_parameters(R"({"temperature":0,"tool_choice":"none"})");
  const model_parameters model =
      read_parameters(R"({"temperature":1,"top_p":0.5,"reasoning_effort":"high","max_output_tokens":9})");
  EXPECT_EQ(members_of(merged(start, model)),
            R"("temperature":0,"top_p":0.5,"max_output_tokens":9,"reasoning_effort":"high","tool_choice":"none")");
}

TEST(demands_call_test, required_or_a_named_tool_demands_a_call) {
  EXPECT_FALSE(demands_call({}));
  EXPECT_FALSE(demands_call(read_parameters(R"({"tool_choice":"auto"})")));
  EXPECT_FALSE(demands_call(read_parameters(R"({"tool_choice":"none"})")));
  EXPECT_TRUE(demands_call(read_parameters(R"({"tool_choice":"required"})")));
  const model_parameters named = read_parameters(R"({"tool_choice":{"name":"shell"}})");
  EXPECT_TRUE(demands_call(named));
  EXPECT_EQ(named_tool(named), "shell");
  EXPECT_EQ(named_tool(read_parameters(R"({"tool_choice":"required"})")), "");
}

}  // namespace

#include "tool_set.hpp"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace {

namespace json = boost::json;
using llm::tool_rules;

struct converted {
  std::vector<llm::notice> notices;
  llm::tool_set tools;
  converted(const json::object& request, const tool_rules& rules) : tools(request, rules, notices) {}
};

json::object parse(const char* text) {
  return json::parse(text).as_object();
}

TEST(tool_set, invalid_names_are_replaced_and_translated_back) {
  tool_rules rules;
  rules.names = tool_rules::name_start::letter;
  const std::string longest(70, 'n');
  json::object request =
      parse(R"({"tools":[{"name":"21st__search"},{"name":"good-one"},{"name":"a.b"},{"name":"a b"},{"name":"探す"}]})");
  request["tools"].as_array().push_back(json::object{{"name", longest + "1"}});
  request["tools"].as_array().push_back(json::object{{"name", longest + "2"}});
  converted m(request, rules);
  ASSERT_EQ(m.tools.offered().size(), 7u);
  EXPECT_EQ(m.tools.offered()[0].name, "_21st__search");
  EXPECT_EQ(m.tools.offered()[1].name, "good-one");
  const auto names = m.tools.names();
  ASSERT_NE(names, nullptr);
  std::set<std::string> all;
  for (std::size_t i = 0; i < 7; ++i) {
    const auto& name = m.tools.offered()[i].name;
    EXPECT_TRUE(all.insert(name).second) << name;
    EXPECT_LE(name.size(), 64u);
    const auto& stored = request["tools"].at(i).at("name").as_string();
    EXPECT_EQ(names->name(name), stored);
    EXPECT_EQ(m.tools.wire_name(stored), name);
  }
  EXPECT_TRUE(m.notices.empty());
}

TEST(tool_set, a_name_may_begin_with_a_digit_if_the_provider_allows_it) {
  converted m(parse(R"({"tools":[{"name":"21st__search"}]})"), {});
  EXPECT_EQ(m.tools.offered()[0].name, "21st__search");
  EXPECT_EQ(m.tools.names(), nullptr) << "nothing to translate";
}

TEST(tool_set, calls_of_the_history_get_valid_names) {
  converted m(parse("{}"), {});
  EXPECT_EQ(m.tools.wire_name("gone"), "gone");
  EXPECT_EQ(m.tools.wire_name("sh\x01"
                              "ell"),
            "sh_ell");
  EXPECT_NE(m.tools.wire_name("sh\x02"
                              "ell"),
            "sh_ell");
  EXPECT_FALSE(m.tools.wire_name("").empty());
}

TEST(tool_set, argument_names_are_translated_in_both_directions) {
  converted m(
      parse(
          R"({"tools":[{"name":"find","parameters":{"properties":{"filter[name]":{"type":"string"}}}},{"name":"other"}]})"),
      {});
  EXPECT_TRUE(m.tools.offered()[0].parameters.at("properties").as_object().contains("filter_name"));
  EXPECT_EQ(json::value(m.tools.wire_arguments("find", parse(R"({"filter[name]":"x"})"))),
            json::parse(R"({"filter_name":"x"})"));
  EXPECT_EQ(json::value(m.tools.wire_arguments("other", parse(R"({"filter[name]":"x"})"))),
            json::parse(R"({"filter[name]":"x"})"));
  const auto names = m.tools.names();
  EXPECT_EQ(names->arguments("find", R"({"filter_name":"x","n":0.1})"), R"({"filter[name]":"x","n":1E-1})");
  EXPECT_EQ(names->arguments("find", R"({"filter_name":"x)"), R"({"filter_name":"x)")
      << "truncated arguments are unchanged";
  EXPECT_EQ(names->arguments("other", R"({"filter_name":1})"), R"({"filter_name":1})");
}

TEST(tool_set, a_tool_that_cannot_be_expressed_is_skipped_and_reported) {
  converted m(
      parse(
          R"({"tools":[7,{"name":""},{"name":"bad","parameters":{"type":"string"}},{"name":"good"},{"name":"good"}]})"),
      {});
  ASSERT_EQ(m.tools.offered().size(), 1u);
  EXPECT_EQ(m.tools.offered()[0].name, "good");
  ASSERT_EQ(m.notices.size(), 4u);
  for (const auto& n : m.notices) EXPECT_EQ(n.code, "tool_skipped");
  EXPECT_EQ(m.notices[2].message, "The tool bad was omitted: its schema does not describe an object.");
  EXPECT_EQ(m.notices[3].message, "The second tool named good was omitted.");
}

TEST(tool_set, tools_above_the_limit_are_skipped) {
  json::object request;
  json::array list;
  for (int i = 0; i < 20; ++i) list.push_back(json::object{{"name", "t" + std::to_string(i)}});
  request["tools"] = list;
  tool_rules rules;
  rules.count = 5;
  converted m(request, rules);
  ASSERT_EQ(m.tools.offered().size(), 5u);
  EXPECT_EQ(m.tools.offered()[4].name, "t4");
  ASSERT_EQ(m.notices.size(), 1u) << "one notice for all skipped tools";
  EXPECT_EQ(
      m.notices[0].message,
      "The provider accepts 5 tools. These were omitted: t5, t6, t7, t8, t9, t10, t11, t12, t13, t14 and 5 more.");
  request["tool_choice"] = {{"name", "t17"}};
  converted chosen(request, rules);
  ASSERT_EQ(chosen.tools.offered().size(), 5u);
  EXPECT_EQ(chosen.tools.offered()[3].name, "t3");
  EXPECT_EQ(chosen.tools.offered()[4].name, "t17") << "the tool of tool_choice is kept";
}

TEST(tool_set, many_tools_do_not_take_quadratic_time) {
  json::object request;
  json::array list;
  for (int i = 0; i < 50'000; ++i) list.push_back(json::object{{"name", "tool " + std::to_string(i)}});
  request["tools"] = list;
  converted m(request, {});
  EXPECT_EQ(m.tools.offered().size(), 50'000u);
  EXPECT_EQ(m.tools.names()->name(m.tools.offered().back().name), "tool 49999");
}

TEST(tool_set, reads_tool_choice) {
  const struct {
    const char* given;
    std::string mode, name;
    std::size_t notices;
  } rows[] = {{R"("auto")", "auto", "", 0},
              {R"("none")", "none", "", 0},
              {R"("required")", "required", "", 0},
              {R"({"name":"f"})", "tool", "f", 0},
              {R"({"name":"g"})", "", "", 1},
              {R"("any")", "", "", 1},
              {"null", "", "", 0},
              {"7", "", "", 1}};
  for (const auto& r : rows) {
    json::object request = parse(R"({"tools":[{"name":"f"}]})");
    request["tool_choice"] = json::parse(r.given);
    converted m(request, {});
    const auto choice = llm::read_tool_choice(request, m.tools, m.notices);
    EXPECT_EQ(choice.mode, r.mode) << r.given;
    EXPECT_EQ(choice.name, r.name) << r.given;
    EXPECT_EQ(m.notices.size(), r.notices) << r.given;
  }
  const json::object no_tools = parse(R"({"tool_choice":"required"})");
  converted m(no_tools, {});
  EXPECT_EQ(llm::read_tool_choice(no_tools, m.tools, m.notices).mode, "") << "no tools are offered";
}

TEST(shorten_description, truncates_after_a_word) {
  EXPECT_EQ(llm::shorten_description("one two three", 0), "one two three");
  EXPECT_EQ(llm::shorten_description("one two three", 13), "one two three");
  EXPECT_EQ(llm::shorten_description("one two three", 12), "one two\u2026");
  EXPECT_EQ(llm::shorten_description("wwwwwwwwwwwwww", 5), "wwww\u2026");
  EXPECT_EQ(llm::shorten_description("\U0001f600\U0001f600\U0001f600", 5), "\U0001f600\U0001f600\u2026")
      << "counted in UTF-16 units";
  std::string words;
  for (int i = 0; i < 400; ++i) words += "words ";
  const auto shortened = llm::shorten_description(words, 1024);
  EXPECT_LE(shortened.size(), 1023u + 3);
  EXPECT_TRUE(shortened.ends_with("words\u2026"));
}

}  // namespace

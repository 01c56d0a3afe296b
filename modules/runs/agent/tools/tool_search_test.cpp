#include "agent/tools/tool_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <numeric>

#include "agent/tools/tool_offer.hpp"

using namespace runs;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
namespace json = boost::json;

namespace {

std::vector<std::string> names(const tool_index& index, std::string_view query, std::size_t max_results = 5) {
  std::vector<std::string> out;
  for (const std::size_t i : index.search(query, max_results)) out.push_back(index.at(i).name);
  return out;
}

tool_index some_tools() {
  return tool_index({{"github__create_issue", "Creates an issue in a repository", {"owner", "repo", "title", "body"}},
                     {"github__list_pull_requests", "Lists the pull requests of a repository", {"owner", "repo"}},
                     {"jira__transitionIssue", "Moves a ticket to another state of its workflow", {"key", "state"}},
                     {"mail__send", "Sends a message to one or more recipients", {"to", "subject", "text"}},
                     {"weather__forecast", "Weather of the next days for a place", {"latitude", "longitude"}},
                     {"calendar__add_event", "Adds an appointment", {"start", "end", "attendees"}}});
}

tool_catalog catalog_of(std::size_t count) {
  tool_catalog out;
  out.json = "[]";
  out.add({"shell", "sandbox"}, R"({"name":"shell","description":"Runs a command"})");
  out.built_in = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "srv__item_" + std::to_string(i);
    out.add({name, "mcp:srv"}, R"({"name":")" + name + R"(","description":"Handles the subject s)" + std::to_string(i) +
                                   R"(","parameters":{"type":"object","properties":{"amount":{"type":"integer"}}}})");
  }
  return out;
}

}  // namespace

TEST(tool_search_test, words_are_split_and_case_folded) {
  EXPECT_THAT(search_words("create_issue, PULL-request 7"), ElementsAre("create", "issue", "pull", "request", "7"));
  EXPECT_THAT(search_words("createIssue HTTPServer"),
              ElementsAre("create", "issue", "createissue", "http", "server", "httpserver"));
  EXPECT_THAT(search_words("ÄNDERN Создать ΑΡΧΕΊΟΣ ＡＢ"), ElementsAre("ändern", "создать", "αρχείοσ", "ａｂ"));
  EXPECT_THAT(search_words("天気予報、検索"), ElementsAre("天気", "気予", "予報", "検索"));
  EXPECT_THAT(search_words("파일 검색 get天気"), ElementsAre("파일", "검색", "get", "天気"));
  EXPECT_THAT(search_words(" \xe2\x80\x94 … ()"), IsEmpty());
  EXPECT_THAT(search_words("\xff\xc3"), IsEmpty());
}

TEST(tool_search_test, the_best_tool_comes_first) {
  const tool_index index = some_tools();
  EXPECT_THAT(names(index, "open a new issue on github", 1), ElementsAre("github__create_issue"));
  EXPECT_THAT(names(index, "pull requests", 1), ElementsAre("github__list_pull_requests"));
  EXPECT_THAT(names(index, "ticket workflow"), ElementsAre("jira__transitionIssue"));
  EXPECT_THAT(names(index, "attendees"), ElementsAre("calendar__add_event")) << "parameter names are searched";
  EXPECT_THAT(names(index, "issues"), ElementsAre("github__create_issue", "jira__transitionIssue"))
      << "words with a common prefix match";
  EXPECT_THAT(names(index, "zebra"), IsEmpty());
  EXPECT_THAT(names(index, ""), IsEmpty());
  EXPECT_EQ(names(index, "a the of in repository issue state days", 2).size(), 2u) << "no more than requested";
}

TEST(tool_search_test, names_have_more_weight_than_descriptions) {
  const tool_index index({{"a__notes", "Keeps what the invoice department wants to remember", {}},
                          {"b__invoice", "Makes what the customer has to pay", {}}});
  EXPECT_THAT(names(index, "invoice"), ElementsAre("b__invoice", "a__notes"));
  EXPECT_THAT(names(index, "A__NOTES invoice", 1), ElementsAre("a__notes"));
}

TEST(tool_search_test, an_exact_name_comes_first) {
  const tool_index index(
      {{"files__search_search", "search search search", {"search"}}, {"search", "Looks around", {}}});
  EXPECT_THAT(names(index, "search", 1), ElementsAre("search"));
  EXPECT_THAT(names(index, "SEARCH", 1), ElementsAre("search"));
}

TEST(tool_search_test, names_of_any_script_are_found) {
  const tool_index index({{"天気__予報を取得", "明日の天気", {"都市"}},
                          {"поиск_файлов", "Ищет файлы по имени", {"шаблон"}},
                          {"dosya_ara", "Klasördeki dosyaları bulur", {"isim"}}});
  EXPECT_THAT(names(index, "天気予報", 1), ElementsAre("天気__予報を取得"));
  EXPECT_THAT(names(index, "都市"), ElementsAre("天気__予報を取得"));
  EXPECT_THAT(names(index, "ПОИСК файла", 1), ElementsAre("поиск_файлов"));
  EXPECT_THAT(names(index, "Dosyalar", 1), ElementsAre("dosya_ara"));
}

TEST(tool_search_test, equal_tools_are_ordered_by_name) {
  std::vector<searchable_tool> tools;
  for (const char* name : {"c_thing", "a_thing", "b_thing"}) tools.push_back({name, "Same words", {}});
  EXPECT_THAT(names(tool_index(tools), "thing"), ElementsAre("a_thing", "b_thing", "c_thing"));
}

TEST(tool_search_test, tools_are_found_by_name) {
  const tool_index index({{"Über", "", {}}, {"twice", "", {}}, {"TWICE", "", {}}});
  EXPECT_EQ(index.find("über"), 0u);
  EXPECT_EQ(index.find("TWICE"), 2u);
  EXPECT_EQ(index.find("Twice"), std::nullopt) << "ambiguous";
  EXPECT_EQ(index.find("once"), std::nullopt);
}

TEST(tool_search_test, tools_in_use_are_collected_from_the_thread) {
  tool_outcome found{"two", false};
  found.loaded_tools = {"a", "b"};
  const tool_call search{"c1", "find_tools", "{}"}, call{"c2", "b", "{\"loaded_tools\":[\"x\"]}"};
  std::vector<chat_message> thread = {
      {"summary", with_loaded_tools(user_body("before"), {"old", "a"}), belongs::to_an_earlier_run, 1},
      {"user", user_body("\"loaded_tools\":[\"no\"]"), belongs::to_an_earlier_run, 2},
      {"assistant", assistant_body("", {search}), belongs::to_an_earlier_run, 3},
      {"tool", tool_body(search, found), belongs::to_an_earlier_run, 4},
      {"assistant", assistant_body("", {call}), belongs::to_this_run, 5},
      {"tool", tool_body(call, {"\"loaded_tools\":[\"no\"]", false}), belongs::to_this_run, 6}};
  EXPECT_THAT(tools_in_use(thread), ElementsAre("b", "a", "find_tools", "old"));

  const std::string request = build_request({"m", "", "[]"}, thread);
  EXPECT_THAT(json::serialize(json::parse(request).at("messages").at(0)), Not(HasSubstr("loaded_tools")));
  EXPECT_THAT(request, Not(HasSubstr("\"old\""))) << "loaded_tools is not sent to the provider";
  EXPECT_THAT(request, HasSubstr(R"("arguments":{"loaded_tools":["x"]})")) << "arguments are unchanged";
}

TEST(tool_search_test, the_number_of_tools_in_use_is_limited) {
  std::vector<std::string> many;
  for (int i = 0; i < 2000; ++i) many.push_back("t" + std::to_string(i));
  const std::vector<chat_message> thread = {
      {"summary", with_loaded_tools(user_body("x"), many), belongs::to_this_run, 1}};
  const std::vector<std::string> used = tools_in_use(thread);
  EXPECT_EQ(used.size(), max_tools_in_use);
  EXPECT_EQ(used.front(), "t0");
}

TEST(tool_search_test, search_is_needed_above_the_limit_or_at_the_configured_number) {
  EXPECT_FALSE(needs_tool_search(128, 128, 0));
  EXPECT_TRUE(needs_tool_search(129, 128, 0));
  EXPECT_FALSE(needs_tool_search(5000, 0, 0));
  EXPECT_TRUE(needs_tool_search(20, 0, 20));
  EXPECT_FALSE(needs_tool_search(19, 128, 20));
}

TEST(tool_search_test, built_in_tools_and_tools_in_use_are_selected) {
  EXPECT_THAT(select_tools({300, 4, {}, std::nullopt, 128, 0}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(select_tools({300, 4, {250, 7}, 30, 128, 0}), ElementsAre(0, 1, 2, 3, 7, 30, 250));
  std::vector<std::size_t> used(200);
  std::iota(used.begin(), used.end(), 100);
  const auto full = select_tools({300, 4, used, std::nullopt, 128, 0});
  EXPECT_EQ(full.size(), 127u) << "one slot is reserved for find_tools";
  EXPECT_THAT(full, Contains(100));
  EXPECT_THAT(full, Not(Contains(299))) << "the latest tools are kept";
  EXPECT_EQ(select_tools({300, 4, used, std::nullopt, 0, 20}).size(), 127u) << "a default limit applies";
  EXPECT_THAT(select_tools({300, 4, {9, 8}, 20, 6, 0}), ElementsAre(0, 1, 8, 9, 20));
  EXPECT_THAT(select_tools({300, 4, {9, 8, 7}, std::nullopt, 3, 0}), ElementsAre(0, 9));
  EXPECT_THAT(select_tools({300, 4, {9}, std::nullopt, 1, 0}), IsEmpty());
}

TEST(tool_search_test, the_catalogue_returns_the_text_of_each_tool) {
  const tool_catalog catalog = catalog_of(3);
  ASSERT_EQ(json::parse(catalog.json).as_array().size(), 4u);
  for (const tool_catalog::tool& t : catalog.tools)
    EXPECT_EQ(json::parse(catalog.text_of(t)).at("name").as_string(), t.name);
  EXPECT_EQ(catalog.find("find_tools"), &catalog.search);
  EXPECT_EQ(catalog_of(0).find("find_tools"), nullptr) << "there is nothing to search";
}

TEST(tool_search_test, find_tools_describes_the_sources_of_tools) {
  const json::value tool = json::parse(find_tools_json(catalog_of(300)));
  EXPECT_EQ(tool.at("name").as_string(), "find_tools");
  EXPECT_THAT(std::string(tool.at("description").as_string()), HasSubstr("srv (300)"));
  EXPECT_TRUE(tool.at("parameters").at("properties").as_object().contains("query"));
}

TEST(tool_search_test, find_tools_returns_and_loads_matching_tools) {
  const tool_catalog catalog = catalog_of(300);
  const tool_outcome found = find_tools(catalog, {{"query", "subject s42"}});
  EXPECT_FALSE(found.is_error);
  ASSERT_FALSE(found.loaded_tools.empty());
  EXPECT_EQ(found.loaded_tools.front(), "srv__item_42");
  EXPECT_LE(found.loaded_tools.size(), 10u);
  EXPECT_THAT(found.content, HasSubstr("srv__item_42(amount): Handles the subject s42"));

  const tool_outcome named = find_tools(catalog, {{"names", {"srv__item_7", "SRV__ITEM_8", "none"}}});
  EXPECT_THAT(named.loaded_tools, ElementsAre("srv__item_7", "srv__item_8"));
  EXPECT_THAT(named.content, HasSubstr("There is no tool with this name: none."));

  const tool_outcome none = find_tools(catalog, {{"query", "zebra"}});
  EXPECT_TRUE(none.loaded_tools.empty());
  EXPECT_THAT(none.content, HasSubstr("srv (300)"));
  EXPECT_TRUE(find_tools(catalog, {}).is_error);
  EXPECT_TRUE(find_tools(catalog, {{"query", 7}}).is_error);
}

TEST(tool_search_test, find_tools_results_have_a_size_limit) {
  tool_catalog catalog = catalog_of(0);
  for (int i = 0; i < 50; ++i) {
    json::object properties;
    for (int k = 0; k < 100; ++k) properties["parameter" + std::to_string(k)] = json::object();
    const std::string name = "big" + std::to_string(i);
    catalog.add({name, "mcp:big"}, json::serialize(json::object{{"name", name},
                                                                {"description", "find me " + std::string(20000, 'x')},
                                                                {"parameters", {{"properties", properties}}}}));
  }
  json::array all;
  for (int i = 0; i < 50; ++i) all.push_back(json::string("big" + std::to_string(i)));
  const tool_outcome found = find_tools(catalog, {{"query", "find me"}, {"names", all}});
  EXPECT_LE(found.loaded_tools.size(), 30u);
  EXPECT_LT(found.content.size(), 40u * 1024);
}

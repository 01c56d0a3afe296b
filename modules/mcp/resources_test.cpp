#include "resources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ry/cpp/types.hpp>

namespace mcp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using list = resource_collector::list;

resource_entry entry(std::string uri, std::string name = {}) {
  resource_entry e;
  e.uri = std::move(uri);
  e.name = std::move(name);
  return e;
}

TEST(resources_test, collects_the_pages_of_resources_and_templates) {
  resource_collector pages;
  EXPECT_EQ(pages.add_page(
                parse(R"({"resources":[{"uri":"file:///a","name":"a","title":"The A","mimeType":"text/plain","size":7,
      "description":"first\nsecond"},{"name":"no uri"},{"uri":"x:\u0007"},5],"nextCursor":""})"),
                list::resources),
            "");
  EXPECT_EQ(pages.add_page(parse(R"({"resources":[{"uri":"file:///b","name":"b"}]})"), list::resources), std::nullopt);
  EXPECT_EQ(
      pages.add_page(parse(R"({"resourceTemplates":[{"uriTemplate":"row://{id}","name":"row"}]})"), list::templates),
      std::nullopt);
  EXPECT_FALSE(pages.incomplete());
  const auto all = pages.take();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(
      resources_text(all, {}, false),
      "3 resources:\nfile:///a (The A, text/plain, 7 bytes): first second\nfile:///b (b)\ntemplate row://{id} (row)");
}

TEST(resources_test, hidden_and_bidirectional_characters_are_removed) {
  resource_collector c;
  json::array all;
  for (const char* uri : {"file:///a\u202Eb", "file:///a\u2028b", "file:///a\U000E0041", "file:///\u0645"}) {
    all.push_back(json::object{{"uri", uri}, {"name", "x\u202E\u2028y\nz"}, {"description", "q\U000E0041\tr"}});
  }
  EXPECT_FALSE(c.add_page(json::object{{"resources", std::move(all)}}, list::resources).has_value());
  EXPECT_EQ(resources_text(c.take(), {}, false), "1 resource:\nfile:///\u0645 (xy z): q r");
}

TEST(resources_test, endless_lists_are_limited) {
  resource_collector repeated;
  const auto page = parse(R"({"resources":[{"uri":"a:b"}],"nextCursor":"again"})");
  EXPECT_EQ(repeated.add_page(page, list::resources), "again");
  EXPECT_EQ(repeated.add_page(page, list::resources), std::nullopt);
  EXPECT_TRUE(repeated.incomplete());
  resource_collector many({.pages = 100, .entries = 3, .bytes = 1 << 20});
  std::optional<std::string> cursor = "";
  for (int i = 0; cursor && i < 10; ++i) {
    cursor =
        many.add_page(parse(R"({"resources":[{"uri":"a:b"},{"uri":"a:c"}],"nextCursor":")" + std::to_string(i) + "\"}"),
                      list::resources);
  }
  EXPECT_TRUE(many.incomplete());
  EXPECT_THAT(resources_text(many.take(), {}, true), HasSubstr("more resources than are listed"));
  EXPECT_THROW(many.add_page(parse(R"({"tools":[]})"), list::resources), ry::error);
}

TEST(resources_test, long_lists_are_shown_page_by_page) {
  std::vector<resource_entry> all;
  for (int i = 0; i < 1200; ++i) all.push_back(entry("item://" + std::to_string(i), "Item " + std::to_string(i)));
  const auto first = resources_text(all, {}, false);
  EXPECT_THAT(first, HasSubstr("Resources 1 to 500 of 1200:\nitem://0 (Item 0)\n"));
  EXPECT_THAT(first, HasSubstr("[to list more: offset 500, or a filter]"));
  const auto last = resources_text(all, {"", 1000}, false);
  EXPECT_THAT(last, HasSubstr("Resources 1001 to 1200 of 1200:\nitem://1000"));
  EXPECT_THAT(last, Not(HasSubstr("to list more")));
  EXPECT_EQ(resources_text(all, {"ITEM 77", 9}, false),
            "Resources 10 to 11 of 11:\nitem://778 (Item 778)\nitem://779 (Item 779)");
  EXPECT_EQ(resources_text(all, {"nothing", 0}, false), "No resource matches the filter.");
  EXPECT_EQ(resources_text(all, {"", 5000}, false), "There are 1200 resources; the offset is beyond the last.");
  EXPECT_EQ(resources_text({}, {}, false), "The server has no resources.");
  std::vector<resource_entry> wide(20, entry("wide://" + std::string(4000, 'x')));
  EXPECT_LT(resources_text(wide, {}, false).size(), 33u * 1024);
}

TEST(resources_test, contents_of_a_resource_become_the_content_of_a_result) {
  const auto result = contents_as_result(parse(R"({"contents":[{"uri":"a:b","text":"hello"}]})"));
  EXPECT_EQ(json::serialize(result), R"({"content":[{"type":"resource","resource":{"uri":"a:b","text":"hello"}}]})");
  EXPECT_THAT(json::serialize(contents_as_result(parse(R"({"contents":[]})"))), HasSubstr("the resource is empty"));
  EXPECT_THROW(contents_as_result(parse(R"({"content":[]})")), ry::error);
}

TEST(resources_test, the_resource_tools_list_their_servers) {
  EXPECT_TRUE(resource_tools({}).empty());
  const auto one = resource_tools({"files"});
  ASSERT_EQ(one.size(), 2u);
  EXPECT_EQ(one[0].at("name"), "list_resources");
  EXPECT_FALSE(one[0].at("parameters").as_object().contains("required"));
  EXPECT_EQ(json::serialize(one[1].at("parameters").at("required")), R"(["uri"])");
  EXPECT_EQ(one[1].at("parameters").at("properties").at("uri").at("type"), "string");
  EXPECT_EQ(one[0].at("parameters").at("properties").at("offset").at("minimum"), 0);
  const auto two = resource_tools({"files", "mail"});
  EXPECT_EQ(json::serialize(two[0].at("parameters").at("properties").at("server").at("enum")), R"(["files","mail"])");
  EXPECT_EQ(json::serialize(two[1].at("parameters").at("required")), R"(["uri","server"])");
}

}  // namespace
}  // namespace mcp

// Cache of tool lists, and sanitising of text of other parties.
#include <gmock/gmock.h>

#include <ry/cpp/types.hpp>

#include "memory.hpp"
#include "result.hpp"
#include "text.hpp"

namespace mcp {
namespace {

tool_list_ptr list_of(std::initializer_list<std::pair<const char*, std::string>> tools) {
  tool_collector c({});
  json::array all;
  for (const auto& [name, description] : tools) {
    all.push_back(json::object{{"name", name}, {"description", description}, {"inputSchema", json::object()}});
  }
  (void)c.add_page(json::object{{"tools", std::move(all)}});
  return std::make_shared<const tool_list>(c.finish());
}

TEST(memory, is_bounded_in_bytes_and_the_least_used_goes_first) {
  const auto list = list_of({{"a", std::string(10'000, 'x')}});
  ASSERT_GT(list->bytes, 10'000u);
  tool_memory m(35'000);
  for (const char* key : {"one", "two", "three"}) m.store(key, "u", list, 1000, 0);
  EXPECT_TRUE(m.look_up("one", 0).fresh);
  m.store("four", "u", list, 1000, 0);
  EXPECT_EQ(m.look_up("two", 0).tools, nullptr);
  for (const char* key : {"one", "three", "four"}) EXPECT_NE(m.look_up(key, 0).tools, nullptr) << key;
  EXPECT_LE(m.bytes(), 35'000u);
}

TEST(memory, a_list_that_is_too_large_is_not_kept_and_pushes_nothing_out) {
  tool_memory m(5'000);
  const auto small = list_of({{"a", "x"}});
  m.store("small", "u", small, 1000, 0);
  m.store("large", "u", list_of({{"a", std::string(10'000, 'x')}}), 1000, 0);
  EXPECT_EQ(m.look_up("large", 0).tools, nullptr);
  EXPECT_EQ(m.look_up("small", 0).tools, small);
}

TEST(memory, an_account_that_has_much_gives_up_its_own) {
  const auto list = list_of({{"a", std::string(1'000, 'x')}});
  for (const bool by_bytes : {true, false}) {
    tool_memory m(by_bytes ? 40 * list->bytes : std::size_t{1} << 30, by_bytes ? 4096 : 30);
    m.store("theirs", "quiet", list, 1000, 0);
    for (int i = 0; i < 200; ++i) m.store(std::to_string(i), "busy", list, 1000, 0);
    EXPECT_NE(m.look_up("theirs", 0).tools, nullptr) << by_bytes;
    EXPECT_NE(m.look_up("199", 0).tools, nullptr);
    EXPECT_NE(m.look_up("180", 0).tools, nullptr) << "alone it has nearly all of the room";
    EXPECT_EQ(m.look_up("100", 0).tools, nullptr);
    // Entries of many small accounts are evicted by least recent use.
    for (int i = 0; i < 100; ++i) m.store("k" + std::to_string(i), std::to_string(i), list, 1000, 0);
    EXPECT_EQ(m.look_up("199", 0).tools, nullptr);
    EXPECT_NE(m.look_up("k99", 0).tools, nullptr);
  }
}

TEST(memory, is_bounded_in_entries_also_of_failures) {
  tool_memory m(1u << 20, 3);
  for (int i = 0; i < 10; ++i) m.failed(std::to_string(i), "u", 0);
  EXPECT_FALSE(m.look_up("6", 0).failed_lately);
  EXPECT_TRUE(m.look_up("9", 0).failed_lately);
}

TEST(memory, ages_and_tells_what_changed) {
  tool_memory m(1u << 20);
  EXPECT_TRUE(m.store("k", "u", list_of({{"a", "x"}, {"b", "x"}}), 1000, 0).none());
  EXPECT_FALSE(m.look_up("k", 1000).fresh);
  EXPECT_NE(m.look_up("k", 1000).tools, nullptr) << "the old list goes on to be there";
  m.age("k", "u", 0);
  EXPECT_FALSE(m.look_up("k", 0).fresh);
  const auto change = m.store("k", "u", list_of({{"a", "y"}, {"c", "x"}}), 1000, 0);
  EXPECT_THAT(change.changed, testing::ElementsAre("a"));
  EXPECT_THAT(change.added, testing::ElementsAre("c"));
  EXPECT_THAT(change.removed, testing::ElementsAre("b"));
}

TEST(memory, a_list_that_was_asked_for_before_it_aged_is_not_fresh) {
  tool_memory m(1u << 20);
  auto aged = m.look_up("k", 0).aged;
  m.age("k", "u", 0);
  m.store("k", "u", list_of({{"a", "x"}}), 1000, 0, aged);
  EXPECT_NE(m.look_up("k", 0).tools, nullptr);
  EXPECT_FALSE(m.look_up("k", 0).fresh);
  aged = m.look_up("k", 0).aged;
  m.store("k", "u", list_of({{"a", "x"}}), 1000, 0, aged);
  EXPECT_TRUE(m.look_up("k", 0).fresh);
}

TEST(memory, a_server_that_says_in_vain_that_its_list_has_changed_is_asked_after_a_pause) {
  constexpr std::int64_t second = 1'000'000, life = 3600 * second;
  tool_memory m(1u << 20);
  std::int64_t now = 0;
  // The server reports a change on every request.
  const auto listed = [&](const char* description) {
    const auto aged = m.look_up("k", now).aged;
    m.age("k", "u", now);
    m.store("k", "u", list_of({{"a", description}}), life, now, aged);
  };
  listed("x");
  EXPECT_FALSE(m.look_up("k", now).fresh) << "the first time it is believed";
  for (const std::int64_t pause : {5, 10, 20, 40, 60, 60}) {
    listed("x");
    EXPECT_TRUE(m.look_up("k", now + pause * second - 1).fresh) << pause;
    m.age("k", "u", now + second);
    EXPECT_TRUE(m.look_up("k", now + pause * second - 1).fresh) << pause;
    now += pause * second;
    EXPECT_FALSE(m.look_up("k", now).fresh) << pause;
  }
  // A list that has really changed resets the pause.
  listed("y");
  EXPECT_FALSE(m.look_up("k", now).fresh);
}

TEST(memory, a_doubted_list_is_asked_for_at_once_if_its_server_has_not_said_so_in_vain) {
  tool_memory m(1u << 20);
  for (const char* description : {"x", "y", "z"}) {
    m.store("k", "u", list_of({{"a", description}}), 1'000'000, 0, m.look_up("k", 0).aged);
    EXPECT_TRUE(m.look_up("k", 0).fresh);
    m.age("k", "u", 0);
    EXPECT_FALSE(m.look_up("k", 0).fresh);
  }
}

// A short text can expand to a large value, so the limit applies to the size in memory.
TEST(memory, lists_are_bounded_by_what_they_take) {
  tool_limits limits;
  limits.list_bytes = 100'000;
  tool_collector c(limits);
  std::string zeros = "[0";
  for (int i = 0; i < 2000; ++i) zeros += ",0";
  const auto schema = R"({"type":"object","enum":)" + zeros + "]}";
  std::string page = R"({"tools":[)";
  for (int i = 0; i < 9; ++i) {
    page +=
        (i != 0 ? "," : "") + std::string(R"({"name":"t)") + std::to_string(i) + R"(","inputSchema":)" + schema + "}";
  }
  (void)c.add_page(parse(page + "]}"));
  const auto list = c.finish();
  EXPECT_EQ(list.tools.size(), 2u);
  EXPECT_LE(list.bytes, 101'000u);
  EXPECT_THAT(list.left_out, testing::Contains("t2: the list is too large"));
}

TEST(text, is_cut_at_whole_characters_and_made_valid) {
  EXPECT_EQ(cut("a\xc3\xa9z", 2), "a");
  EXPECT_EQ(cut("a\xc3\xa9z", 3), "a\xc3\xa9");
  EXPECT_EQ(clean("a\xc3\xa9z", 2), "a");
  EXPECT_EQ(clean("\xff"
                  "a\xc3",
                  100),
            "\xef\xbf\xbd"
            "a\xef\xbf\xbd");
  EXPECT_EQ(clean("\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80", 100).find_first_not_of("\xef\xbf\xbd"), std::string::npos);
  const std::string good = "\xe2\x82\xac\xf0\x9f\x98\x80\x7f";
  EXPECT_EQ(clean(good, 100), good);
  EXPECT_EQ(clean("\x80\x80\x80", 4), "\xef\xbf\xbd");
}

TEST(text, of_json_is_mended_where_it_holds_no_characters) {
  EXPECT_EQ(repaired(R"("a\ud83d")"), R"("a\ufffd")");
  EXPECT_EQ(repaired(R"("\ud83d\u0041\uDE00\n")"), R"("\ufffd\u0041\ufffd\n")");
  EXPECT_EQ(repaired(R"("\ud83d\ud83d\ude00")"), R"("\ufffd\ud83d\ude00")");
  EXPECT_EQ(repaired("\"caf\xe9\""), "\"caf\xef\xbf\xbd\"");
  for (const char* good : {R"("\ud83d\ude00")", R"("\\ud83d")", R"("\u00e9\"")", R"("\u12")", R"("\ud83)", "\\", ""}) {
    EXPECT_EQ(repaired(good), good);
  }
}

TEST(results, the_name_of_an_images_kind_counts_against_the_limit) {
  const auto result = json::object{
      {"content",
       json::array{json::object{{"type", "image"}, {"data", "AAAA"}, {"mimeType", std::string(5000, 'x')}}}}};
  const auto out = parse(result_json(result, 1000));
  EXPECT_TRUE(out.at("images").as_array().empty());
}

}  // namespace
}  // namespace mcp

// Tests of the cache of tool lists and of the repair of untrusted text.
#include <gmock/gmock.h>

#include <ry/cpp/types.hpp>

#include "result.hpp"
#include "text.hpp"
#include "tool_list_cache.hpp"

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

TEST(tool_list_cache, is_limited_in_bytes_and_evicts_the_least_recently_used_entry) {
  const auto list = list_of({{"a", std::string(10'000, 'x')}});
  ASSERT_GT(list->bytes, 10'000u);
  tool_list_cache cache(35'000);
  for (const char* key : {"one", "two", "three"}) cache.store(key, "u", list, 1000, 0);
  EXPECT_TRUE(cache.look_up("one", 0).fresh);
  cache.store("four", "u", list, 1000, 0);
  EXPECT_EQ(cache.look_up("two", 0).tools, nullptr);
  for (const char* key : {"one", "three", "four"}) EXPECT_NE(cache.look_up(key, 0).tools, nullptr) << key;
  EXPECT_LE(cache.bytes(), 35'000u);
}

TEST(tool_list_cache, a_list_larger_than_the_cache_is_not_stored_and_evicts_nothing) {
  tool_list_cache cache(5'000);
  const auto small = list_of({{"a", "x"}});
  cache.store("small", "u", small, 1000, 0);
  cache.store("large", "u", list_of({{"a", std::string(10'000, 'x')}}), 1000, 0);
  EXPECT_EQ(cache.look_up("large", 0).tools, nullptr);
  EXPECT_EQ(cache.look_up("small", 0).tools, small);
}

TEST(tool_list_cache, in_a_full_cache_an_account_above_a_quarter_evicts_its_own_entries) {
  const auto list = list_of({{"a", std::string(1'000, 'x')}});
  for (const bool by_bytes : {true, false}) {
    tool_list_cache cache(by_bytes ? 40 * list->bytes : std::size_t{1} << 30, by_bytes ? 4096 : 30);
    cache.store("theirs", "quiet", list, 1000, 0);
    for (int i = 0; i < 200; ++i) cache.store(std::to_string(i), "busy", list, 1000, 0);
    EXPECT_NE(cache.look_up("theirs", 0).tools, nullptr) << by_bytes;
    EXPECT_NE(cache.look_up("199", 0).tools, nullptr);
    EXPECT_NE(cache.look_up("180", 0).tools, nullptr)
        << "the quarter is not a limit: one account may use all space that others do not need";
    EXPECT_EQ(cache.look_up("100", 0).tools, nullptr);
    // New entries of small accounts evict the least recently used entries of any account.
    for (int i = 0; i < 100; ++i) cache.store("k" + std::to_string(i), std::to_string(i), list, 1000, 0);
    EXPECT_EQ(cache.look_up("199", 0).tools, nullptr);
    EXPECT_NE(cache.look_up("k99", 0).tools, nullptr);
  }
}

TEST(tool_list_cache, the_limit_on_entries_includes_failed_servers) {
  tool_list_cache cache(1u << 20, 3);
  for (int i = 0; i < 10; ++i) cache.record_failure(std::to_string(i), "u", 0);
  EXPECT_FALSE(cache.look_up("6", 0).failed_recently);
  EXPECT_TRUE(cache.look_up("9", 0).failed_recently);
}

TEST(tool_list_cache, invalidated_lists_are_stale_and_store_reports_differences) {
  tool_list_cache cache(1u << 20);
  EXPECT_TRUE(cache.store("k", "u", list_of({{"a", "x"}, {"b", "x"}}), 1000, 0).none());
  EXPECT_FALSE(cache.look_up("k", 1000).fresh);
  EXPECT_NE(cache.look_up("k", 1000).tools, nullptr) << "an expired list is still returned";
  cache.invalidate("k", "u", 0);
  EXPECT_FALSE(cache.look_up("k", 0).fresh);
  const auto change = cache.store("k", "u", list_of({{"a", "y"}, {"c", "x"}}), 1000, 0);
  EXPECT_THAT(change.changed, testing::ElementsAre("a"));
  EXPECT_THAT(change.added, testing::ElementsAre("c"));
  EXPECT_THAT(change.removed, testing::ElementsAre("b"));
}

TEST(tool_list_cache, a_list_requested_before_an_invalidation_is_stale) {
  tool_list_cache cache(1u << 20);
  auto invalidations = cache.look_up("k", 0).invalidations;
  cache.invalidate("k", "u", 0);
  cache.store("k", "u", list_of({{"a", "x"}}), 1000, 0, invalidations);
  EXPECT_NE(cache.look_up("k", 0).tools, nullptr);
  EXPECT_FALSE(cache.look_up("k", 0).fresh);
  invalidations = cache.look_up("k", 0).invalidations;
  cache.store("k", "u", list_of({{"a", "x"}}), 1000, 0, invalidations);
  EXPECT_TRUE(cache.look_up("k", 0).fresh);
}

TEST(tool_list_cache, repeated_change_reports_without_a_change_take_effect_after_growing_pauses) {
  constexpr std::int64_t second = 1'000'000, life = 3600 * second;
  tool_list_cache cache(1u << 20);
  std::int64_t now = 0;
  // The server reports a change on every request.
  const auto listed = [&](const char* description) {
    const auto invalidations = cache.look_up("k", now).invalidations;
    cache.invalidate("k", "u", now);
    cache.store("k", "u", list_of({{"a", description}}), life, now, invalidations);
  };
  listed("x");
  EXPECT_FALSE(cache.look_up("k", now).fresh) << "the first report takes effect immediately";
  for (const std::int64_t pause : {5, 10, 20, 40, 60, 60}) {
    listed("x");
    EXPECT_TRUE(cache.look_up("k", now + pause * second - 1).fresh) << pause;
    cache.invalidate("k", "u", now + second);
    EXPECT_TRUE(cache.look_up("k", now + pause * second - 1).fresh) << pause;
    now += pause * second;
    EXPECT_FALSE(cache.look_up("k", now).fresh) << pause;
  }
  // A list that has really changed resets the pause.
  listed("y");
  EXPECT_FALSE(cache.look_up("k", now).fresh);
}

TEST(tool_list_cache, a_change_report_takes_effect_immediately_if_earlier_ones_were_correct) {
  tool_list_cache cache(1u << 20);
  for (const char* description : {"x", "y", "z"}) {
    cache.store("k", "u", list_of({{"a", description}}), 1'000'000, 0, cache.look_up("k", 0).invalidations);
    EXPECT_TRUE(cache.look_up("k", 0).fresh);
    cache.invalidate("k", "u", 0);
    EXPECT_FALSE(cache.look_up("k", 0).fresh);
  }
}

// A short text can expand to a large value, so the limit applies to the size in memory.
TEST(tool_list_cache, the_size_limit_of_a_list_applies_to_its_memory) {
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
  EXPECT_THAT(list.skipped, testing::Contains("t2: the list is too large"));
}

TEST(text, is_truncated_between_characters_and_repaired_to_valid_utf8) {
  EXPECT_EQ(truncated("a\xc3\xa9z", 2), "a");
  EXPECT_EQ(truncated("a\xc3\xa9z", 3), "a\xc3\xa9");
  EXPECT_EQ(valid_utf8("a\xc3\xa9z", 2), "a");
  EXPECT_EQ(valid_utf8("\xff"
                       "a\xc3",
                       100),
            "\xef\xbf\xbd"
            "a\xef\xbf\xbd");
  EXPECT_EQ(valid_utf8("\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80", 100).find_first_not_of("\xef\xbf\xbd"),
            std::string::npos);
  const std::string good = "\xe2\x82\xac\xf0\x9f\x98\x80\x7f";
  EXPECT_EQ(valid_utf8(good, 100), good);
  EXPECT_EQ(valid_utf8("\x80\x80\x80", 4), "\xef\xbf\xbd");
}

TEST(text, invalid_characters_in_json_text_are_replaced) {
  EXPECT_EQ(repaired_json(R"("a\ud83d")"), R"("a\ufffd")");
  EXPECT_EQ(repaired_json(R"("\ud83d\u0041\uDE00\n")"), R"("\ufffd\u0041\ufffd\n")");
  EXPECT_EQ(repaired_json(R"("\ud83d\ud83d\ude00")"), R"("\ufffd\ud83d\ude00")");
  EXPECT_EQ(repaired_json("\"caf\xe9\""), "\"caf\xef\xbf\xbd\"");
  for (const char* good : {R"("\ud83d\ude00")", R"("\\ud83d")", R"("\u00e9\"")", R"("\u12")", R"("\ud83)", "\\", ""}) {
    EXPECT_EQ(repaired_json(good), good);
  }
}

TEST(results, the_media_type_of_an_image_counts_towards_the_size_limit) {
  const auto result = json::object{
      {"content",
       json::array{json::object{{"type", "image"}, {"data", "AAAA"}, {"mimeType", std::string(5000, 'x')}}}}};
  const auto out = parse(result_json(result, 1000));
  EXPECT_TRUE(out.at("images").as_array().empty());
}

}  // namespace
}  // namespace mcp

#include "fingerprint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool_definitions.hpp"

namespace mcp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string fingerprint(const char* text) {
  return fingerprint_of(parse(text).get_object());
}

TEST(fingerprint_test, the_order_of_members_does_not_matter) {
  EXPECT_EQ(
      fingerprint(
          R"({"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string"},"y":{}}}})"),
      fingerprint(
          R"({"inputSchema":{"properties":{"y":{},"x":{"type":"string"}},"type":"object"},"description":"d","name":"a"})"));
  EXPECT_NE(fingerprint(R"({"inputSchema":{"required":["a","b"]}})"),
            fingerprint(R"({"inputSchema":{"required":["b","a"]}})"));
}

TEST(fingerprint_test, members_that_models_do_not_see_are_ignored) {
  const auto expected = fingerprint(R"({"name":"a","description":"d","inputSchema":{}})");
  EXPECT_EQ(
      expected,
      fingerprint(R"({"name":"a","description":"d","inputSchema":{},"icons":[{"src":"x"}],"_meta":{"version":7}})"));
}

TEST(fingerprint_test, changed_parts_are_listed) {
  const auto before =
      fingerprint(R"({"description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}})");
  const auto parts = [&](const char* after) { return changed_parts(before, fingerprint(after)); };
  EXPECT_THAT(changed_parts(before, before), IsEmpty());
  EXPECT_THAT(parts(R"({"description":"D","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}})"),
              ElementsAre("description"));
  EXPECT_THAT(
      parts(R"({"title":"t","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}})"),
      ElementsAre("description"));
  EXPECT_THAT(parts(R"({"description":"d","inputSchema":{},"annotations":{"readOnlyHint":false}})"),
              ElementsAre("parameters", "annotations"));
  EXPECT_THAT(
      parts(
          R"({"description":"d","inputSchema":{"type":"object"},"outputSchema":{},"annotations":{"readOnlyHint":true}})"),
      ElementsAre("result"));
  EXPECT_THAT(changed_parts("", before), ElementsAre("description", "parameters", "result", "annotations"));
}

TEST(fingerprint_test, hashes_of_adjacent_values_are_unambiguous) {
  EXPECT_NE(canonical_hash(parse(R"(["a","b"])")), canonical_hash(parse(R"(["a,b"])")));
  EXPECT_NE(canonical_hash(parse(R"([["a"],"b"])")), canonical_hash(parse(R"([["a","b"]])")));
  EXPECT_NE(canonical_hash(parse(R"({"a":"b"})")), canonical_hash(parse(R"(["a:b"])")));
  EXPECT_NE(canonical_hash(parse("1")), canonical_hash(parse(R"("1")")));
}

TEST(fingerprint_test, a_server_is_identified_by_its_type_and_address) {
  const auto key = [](const char* text) { return definition_key(read_configured(text).at(0)); };
  const auto one = key(R"([{"name":"a","type":"http","config":{"url":"http://x/mcp"}}])");
  EXPECT_EQ(
      one,
      key(R"([{"name":"b","type":"http","config":{"url":"http://x/mcp","headers":{"A":"b"},"on_tool_change":"ask"}}])"));
  EXPECT_NE(one, key(R"([{"name":"a","type":"http","config":{"url":"http://y/mcp"}}])"));
  EXPECT_NE(one, key(R"([{"name":"a","type":"sse","config":{"url":"http://x/mcp"}}])"));
  EXPECT_NE(key(R"([{"name":"a","type":"json","config":{"command":"npx","args":["a"]}}])"),
            key(R"([{"name":"a","type":"json","config":{"command":"npx","args":["b"]}}])"));
  EXPECT_EQ(key(R"([{"name":"a","type":"composio","config":{"profile_id":"p"}}])"),
            key(R"([{"name":"a","type":"prebuilt","config":{"profile_id":"p"}}])"));
}

}  // namespace
}  // namespace mcp

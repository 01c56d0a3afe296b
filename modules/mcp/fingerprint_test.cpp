#include "fingerprint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool_definitions.hpp"

namespace mcp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string of(const char* text) {
  return fingerprint_of(parse(text).get_object());
}

TEST(fingerprint_test, the_order_of_members_does_not_matter) {
  EXPECT_EQ(
      of(R"({"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string"},"y":{}}}})"),
      of(R"({"inputSchema":{"properties":{"y":{},"x":{"type":"string"}},"type":"object"},"description":"d","name":"a"})"));
  EXPECT_NE(of(R"({"inputSchema":{"required":["a","b"]}})"), of(R"({"inputSchema":{"required":["b","a"]}})"));
}

TEST(fingerprint_test, members_hidden_from_models_do_not_count) {
  const auto plain = of(R"({"name":"a","description":"d","inputSchema":{}})");
  EXPECT_EQ(plain,
            of(R"({"name":"a","description":"d","inputSchema":{},"icons":[{"src":"x"}],"_meta":{"version":7}})"));
}

TEST(fingerprint_test, the_parts_that_changed_are_named) {
  const auto before = of(R"({"description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}})");
  const auto parts = [&](const char* after) { return changed_parts(before, of(after)); };
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

TEST(fingerprint_test, values_do_not_run_into_each_other) {
  EXPECT_NE(canonical_hash(parse(R"(["a","b"])")), canonical_hash(parse(R"(["a,b"])")));
  EXPECT_NE(canonical_hash(parse(R"([["a"],"b"])")), canonical_hash(parse(R"([["a","b"]])")));
  EXPECT_NE(canonical_hash(parse(R"({"a":"b"})")), canonical_hash(parse(R"(["a:b"])")));
  EXPECT_NE(canonical_hash(parse("1")), canonical_hash(parse(R"("1")")));
}

TEST(fingerprint_test, a_server_is_known_by_its_address) {
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

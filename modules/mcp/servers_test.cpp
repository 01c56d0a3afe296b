#include "servers.hpp"

#include <gtest/gtest.h>

namespace mcp {
namespace {

TEST(mcp_settings, values_of_the_expected_types_are_accepted) {
  EXPECT_EQ(
      setting_problem("http", R"({"url": "http://a.test", "headers": {"A": "b"}, "reuse": true, "session": "run"})"),
      "");
  EXPECT_EQ(setting_problem("json", R"({"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}})"), "");
  EXPECT_EQ(setting_problem("json", R"({"command": "npx", "args": null, "env": null, "reuse": null})"), "");
  EXPECT_EQ(setting_problem("prebuilt", R"({"profile_id": "x"})"), "");
}

TEST(mcp_settings, a_value_of_another_type_is_reported_with_its_key) {
  EXPECT_EQ(setting_problem("http", R"({"url": ["http://a.test"]})"), "config.url must be a string");
  EXPECT_EQ(setting_problem("http", R"({"url": "http://a.test", "headers": "A: b"})"),
            "config.headers must be an object");
  EXPECT_EQ(setting_problem("sse", R"({"url": "http://a.test", "headers": [1]})"), "config.headers must be an object");
  EXPECT_EQ(setting_problem("http", R"({"url": "http://a.test", "headers": {"A": 1}})"),
            "config.headers.A must be a string");
  EXPECT_EQ(setting_problem("json", R"({"command": 1})"), "config.command must be a string");
  EXPECT_EQ(setting_problem("json", R"({"command": "npx", "args": "-y"})"), "config.args must be a list of strings");
  EXPECT_EQ(setting_problem("json", R"({"command": "npx", "args": ["-y", 1]})"),
            "config.args must be a list of strings");
  EXPECT_EQ(setting_problem("json", R"({"command": "npx", "env": {"A": {}}})"), "config.env.A must be a string");
  EXPECT_EQ(setting_problem("http", R"({"url": "http://a.test", "reuse": "yes"})"),
            "config.reuse must be true or false");
  EXPECT_EQ(setting_problem("prebuilt", R"({"profile_id": 7})"), "config.profile_id must be a string");
}

}  // namespace
}  // namespace mcp

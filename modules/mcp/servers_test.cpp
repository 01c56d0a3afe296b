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

TEST(mcp_settings, an_invalid_header_is_reported_with_its_name) {
  const auto problem_of = [](const std::string& header) {
    return setting_problem("http", R"({"url": "http://a.test", "headers": {"A": "b", )" + header + "}}");
  };
  for (const std::string name : {"", "a b", "a:b", "\xC3\xA4"})
    EXPECT_EQ(problem_of("\"" + name + "\": \"x\""), "config.headers." + name + " is not a valid header name");
  EXPECT_EQ(problem_of(R"("a\r\nb": "x")"), "config.headers.a\r\nb is not a valid header name");
  for (const char* value : {R"(x\r\nb: c)", R"(\u0000)", R"(\u007f)"})
    EXPECT_EQ(problem_of(R"("c": ")" + std::string(value) + "\""),
              "config.headers.c must not contain control characters");
  EXPECT_EQ(problem_of(R"("X-Token_1": "\u00e4\tb", "!#$%&'*+-.^_`|~": "")"), "");
  EXPECT_EQ(setting_problem("json", R"({"command": "npx", "env": {"a b": "x\ny"}})"), "") << "not a header";
}

}  // namespace
}  // namespace mcp

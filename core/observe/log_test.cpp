#include "core/observe/log.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "core/observe/log_line.hpp"
#include "core/observe/redactor.hpp"

namespace ry::observe {
namespace {

using testing::HasSubstr;
using testing::Not;

boost::json::object parsed(const std::string& members) {
  return boost::json::parse("{" + members + "}").as_object();
}

TEST(log_line, text_shows_component_message_and_fields) {
  redactor none;
  EXPECT_EQ(text_line(none, "http", "listening", {{"port", "8080"}, {"why", "a b"}, {"e", ""}}),
            R"([http] listening port=8080 why="a b" e="")");
}

TEST(log_line, no_input_can_begin_a_second_line_or_control_a_terminal) {
  redactor none;
  const std::string evil = "a\nb\r\tc\x1b[2J\x7f\xc2\x85\xe2\x80\xa8\xff\xe2\x80\xae z";
  const auto text = text_line(none, evil, evil, {{evil, evil}});
  const auto json = json_line(none, evil, evil, {{evil, evil}});
  for (const auto& line : {text, json}) {
    for (const char c : line) {
      EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
      EXPECT_NE(c, '\x7f') << line;
    }
    EXPECT_THAT(line, Not(HasSubstr("\xc2\x85")));
    EXPECT_THAT(line, Not(HasSubstr("\xe2\x80\xa8")));
    EXPECT_THAT(line, Not(HasSubstr("\xe2\x80\xae")));
    EXPECT_THAT(line, Not(HasSubstr("\xff")));
  }
  EXPECT_THAT(text, HasSubstr("a\\nb\\r\\tc\\x1b[2J\\x7f\\x85\\u2028\\xff\\u202e z"));
  EXPECT_TRUE(parsed(json)["msg"].as_string().starts_with("a\nb\r\tc\x1b"));
}

TEST(log_line, a_value_cannot_forge_another_field) {
  redactor none;
  EXPECT_EQ(text_line(none, "m", "x", {{"a", "1 admin=\"true\""}}), R"([m] x a="1 admin=\"true\"")");
}

TEST(log_line, json_members_of_the_host_cannot_be_overwritten) {
  redactor none;
  const auto o = parsed(json_line(none, "m", "hello", {{"msg", "other"}, {"n", "1"}}));
  EXPECT_EQ(o.at("msg").as_string(), "hello");
  EXPECT_EQ(o.at("msg_").as_string(), "other");
}

TEST(log_line, module_fields_keep_their_json_types) {
  redactor none;
  const auto fields = fields_of_json(R"({"n":1,"o":{"a":[true,null]},"s":"t"})");
  const auto o = parsed(json_line(none, "m", "x", fields));
  EXPECT_EQ(o.at("n").as_int64(), 1);
  EXPECT_TRUE(o.at("o").at("a").at(0).as_bool());
  EXPECT_EQ(text_line(none, "m", "x", fields), R"([m] x n=1 o={"a":[true,null]} s=t)");
  EXPECT_EQ(text_line(none, "m", "x", fields_of_json("[not json")), R"([m] x fields="[not json")");
  EXPECT_TRUE(fields_of_json("").empty());
}

TEST(log_line, long_text_is_truncated_and_marked) {
  redactor none;
  const auto line = text_line(none, "m", std::string(100'000, 'x'), {});
  EXPECT_LT(line.size(), max_log_text + 100);
  EXPECT_THAT(line, HasSubstr("more bytes)"));
}

TEST(redactor, masks_everywhere_in_message_keys_values_and_nested_json) {
  redactor r;
  r.add("s3cr3t-value");
  r.add("quo\"te\n-secret");
  const auto fields =
      fields_of_json(R"({"s3cr3t-value":"x","deep":[{"h":"Bearer s3cr3t-value"}],"q":"quo\"te\n-secret"})");
  for (const auto& line :
       {text_line(r, "m", "got s3cr3t-value!", fields), json_line(r, "m", "got s3cr3t-value!", fields),
        text_line(r, "m", R"(body {"k":"quo\"te\n-secret"})", {})}) {
    EXPECT_THAT(line, Not(HasSubstr("s3cr3t"))) << line;
    EXPECT_THAT(line, Not(HasSubstr("-secret"))) << line;
    EXPECT_THAT(line, HasSubstr("[redacted]")) << line;
  }
}

TEST(redactor, masks_the_longest_match_and_ignores_short_secrets) {
  redactor r;
  r.add("abcdef");
  r.add("abcdefgh");
  r.add("xyz");
  EXPECT_EQ(r.apply("xyz abcdefgh abcdefg abcde"), "xyz [redacted] [redacted]g abcde");
}

TEST(redactor, a_secret_is_masked_until_its_last_release_and_a_grace_period_have_passed) {
  redactor r;
  r.add("for-good");
  r.hold("for-good");
  r.hold("a-user's \"own\"");
  r.hold("a-user's \"own\"");
  r.drop("a-user's \"own\"");
  const auto more = [&] {
    for (std::size_t i = 0; i < redactor::max_lately; ++i) {
      const auto text = "another-" + std::to_string(i);
      r.hold(text);
      r.drop(text);
    }
  };
  more();
  EXPECT_EQ(r.apply("a-user's \"own\""), "[redacted]");
  r.drop("a-user's \"own\"");
  r.drop("for-good");
  EXPECT_EQ(r.apply("a-user's \"own\""), "[redacted]");
  more();
  EXPECT_EQ(r.apply("a-user's \"own\" for-good"), "a-user's \"own\" [redacted]");
  r.drop("never held");
  r.hold("another-1");
  r.drop("another-1");
  EXPECT_EQ(r.size(), redactor::max_lately + 1);
}

TEST(redactor, a_secret_at_the_truncation_point_does_not_leak_its_beginning) {
  redactor r;
  const std::string secret(64, 's');
  r.add(secret);
  const auto line = text_line(r, "m", std::string(max_log_text - 10, 'x') + secret, {});
  EXPECT_THAT(line, Not(HasSubstr("ssss")));
}

TEST(redactor, numbers_are_masked_too) {
  redactor r;
  r.add("4111111111");
  EXPECT_THAT(json_line(r, "m", "x", fields_of_json(R"({"card":4111111111})")), Not(HasSubstr("4111111111")));
}

TEST(log, writes_one_line_to_standard_error_above_the_minimum) {
  configure_log({level::warn, false});
  redact("hunter2-hunter2");
  testing::internal::CaptureStderr();
  log(level::info, "test", "quiet");
  log(level::warn, "test", "loud\nhunter2-hunter2", {{"k", "v"}});
  log(level::off, "test", "never");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::MatchesRegex("....-..-..T..:..:..\\....Z warning \\[test\\] loud.n\\[redacted\\] k=v\n"));

  configure_log({level::info, true});
  testing::internal::CaptureStderr();
  log_json(level::error, "test", "bad", R"({"n":7})");
  const auto o = boost::json::parse(testing::internal::GetCapturedStderr()).as_object();
  EXPECT_EQ(o.at("level").as_string(), "error");
  EXPECT_EQ(o.at("n").as_int64(), 7);
  EXPECT_TRUE(log_enabled(level::info));
  EXPECT_FALSE(log_enabled(level::debug));
  configure_log({});
}

}  // namespace
}  // namespace ry::observe

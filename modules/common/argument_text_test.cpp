#include "common/argument_text.hpp"

#include <gtest/gtest.h>

namespace ry_arguments {
namespace {

std::string text(std::string_view json, std::size_t max_bytes = 1000) {
  return show(json, max_bytes).text;
}

TEST(argument_text, shows_a_line_per_member_in_their_order) {
  const auto shown = show(R"({"path": "a\/b", "lines":[1, {"x":"}"}] ,"force":true,"n":null})", 1000);
  EXPECT_EQ(shown.text, "path: a/b\nlines: [1, {\"x\":\"}\"}]\nforce: true\nn: null");
  EXPECT_TRUE(shown.is_complete);
  EXPECT_EQ(text("{}"), "");
  EXPECT_TRUE(show("{}", 1000).is_complete);
}

TEST(argument_text, shows_numbers_as_they_are_written) {
  EXPECT_EQ(text(R"({"a":1E308,"b":1e999999,"c":123456789012345678901234567890})"),
            "a: 1E308\nb: 1e999999\nc: 123456789012345678901234567890");
}

TEST(argument_text, a_value_cannot_imitate_a_member) {
  EXPECT_EQ(text(R"({"command":"ls\nforce: false","force":true})"), "command: ls\n  force: false\nforce: true");
  EXPECT_EQ(text(R"({"a\nb":1})"), "a\n b: 1");
}

TEST(argument_text, escapes_characters_that_hide_or_reorder_text) {
  EXPECT_EQ(text("{\"a\":\"x\xE2\x80\xAEy\\u0000\\u200bz\\r\\u2028\"}"),
            "a: x\\u{202E}y\\u{0}\\u{200B}z\\u{D}\\u{2028}");
  EXPECT_EQ(text("{\"a\":[\"\xE2\x80\xAE\"]}"), "a: [\"\\u{202E}\"]");
  EXPECT_EQ(text("{\"a\":\"\xF0\x9F\x98\x80\\ud83d\\ude00\"}"), "a: \xF0\x9F\x98\x80\xF0\x9F\x98\x80");
}

TEST(argument_text, is_bounded) {
  const auto shown = show("{\"a\":\"" + std::string(5000, 'x') + "\",\"b\":1}", 20);
  EXPECT_EQ(shown.text, "a: xxxxxxxxxxxxxx\xE2\x80\xA6");
  EXPECT_FALSE(shown.is_complete);
  EXPECT_EQ(text("{\"a\":\"\xC3\xA4\xC3\xA4\xC3\xA4\"}", 8), "a: \xC3\xA4\xE2\x80\xA6") << "no part of a character";
}

TEST(argument_text, shows_the_beginning_of_an_incomplete_text) {
  for (const auto& [json, expected] : {std::pair{R"({"a":"x\ud83d\ude)", "a: x\xE2\x80\xA6"},
                                       {R"({"a":"x\)", "a: x\xE2\x80\xA6"},
                                       {R"({"a":[1,2)", "a: [1,2\xE2\x80\xA6"},
                                       {R"({"a":1,)", "a: 1\xE2\x80\xA6"},
                                       {R"({"a":)", "a: \xE2\x80\xA6"},
                                       {R"({)", "\xE2\x80\xA6"}}) {
    const auto shown = show(json, 1000);
    EXPECT_EQ(shown.text, expected) << json;
    EXPECT_FALSE(shown.is_complete) << json;
  }
}

}  // namespace
}  // namespace ry_arguments

#include "types/schema_pattern.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace runs {
namespace {

bool found(const std::string& pattern, const std::string& text) {
  return schema_pattern(pattern).found_in(text);
}

std::string refusal_of_pattern(const std::string& pattern) {
  try {
    (void)schema_pattern(pattern);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return {};
}

TEST(schema_pattern, matches_like_ecma_262) {
  struct example {
    const char *pattern, *matches, *other;
  };
  for (const example& e : {
           example{"b", "abc", "ac"},
           {"^ab$", "ab", "abc"},
           {"^(a|bc|)d$", "bcd", "bd"},
           {"^(?:a|bc)+$", "abca", "abcb"},
           {"^(?<name>a){2}$", "aa", "a"},
           {"^a{2,3}$", "aaa", "aaaa"},
           {"^a{2,}$", "aaaaa", "a"},
           {"^a{0}b$", "b", "ab"},
           {"^a?b*c+$", "bbc", "ab"},
           {"^a+?$", "aa", ""},
           {"^(a*)*b$", "aaab", "aaa"},
           {"^(a{2}b){2}$", "aabaab", "aab"},
           {"^[a-c_\\-]+$", "a-_c", "d"},
           {"^[^a-c]$", "d", "b"},
           {"^[\\d.]+$", "1.5", "x"},
           {"^\\d{4}-\\d\\d$", "2026-11", "202-11"},
           {"^\\w+\\s\\W$", "a_1 !", "a 1"},
           {"^\\D\\S$", "ab", "1 "},
           {"^a.c$", "abc", "a\nc"},
           {"\\bcat\\b", "a cat!", "concat"},
           {"\\Bcat", "concat", "a cat"},
           {"^\\x41\\u0042\\u{43}$", "ABC", "abc"},
           {"^\\t\\.\\/\\\\$", "\t./\\", "t./\\"},
           {"^\xe2\x82\xac$", "\xe2\x82\xac", "e"},
           {"^.$", "\xf0\x9f\x98\x80", "ab"},
           {"^\\ud83d\\ude00$", "\xf0\x9f\x98\x80", "x"},
           {"^$", "", "a"},
           {"a|b|^c", "xb", "xc"},
           {"^([0-9a-f]{8}-[0-9a-f]{4})$", "0123abcd-ffff", "0123abcd-fffg"},
       }) {
    EXPECT_TRUE(found(e.pattern, e.matches)) << e.pattern;
    EXPECT_FALSE(found(e.pattern, e.other)) << e.pattern;
  }
}

TEST(schema_pattern, unsupported_and_invalid_patterns_are_refused) {
  for (const char* lookaround : {"(?=a)", "(?!a)", "(?<=a)", "(?<!a)"})
    EXPECT_EQ(refusal_of_pattern(lookaround), "lookahead and lookbehind are not supported") << lookaround;
  for (const char* reference : {"(a)\\1", "(?<n>a)\\k<n>"})
    EXPECT_EQ(refusal_of_pattern(reference), "references to groups are not supported") << reference;
  for (const char* invalid : {"(", ")", "a)", "[", "[a", "[b-a]", "*", "a**", "a{", "a{2", "a{3,2}", "\\", "\\q",
                              "\\u12", "\\p{L}", "(?<n", "a{2000}", "[\\d-z]"})
    EXPECT_NE(refusal_of_pattern(invalid), "") << invalid;
  EXPECT_NE(refusal_of_pattern(std::string(3000, 'a')), "");
  EXPECT_NE(refusal_of_pattern(std::string(200, '(') + std::string(200, ')')), "");
}

// Patterns that take exponential time or memory elsewhere.
TEST(schema_pattern, hostile_patterns_are_harmless) {
  const auto start = std::chrono::steady_clock::now();
  const std::string text(2000, 'a');
  EXPECT_FALSE(found("^(a+)+$", text + "!"));
  EXPECT_FALSE(found("^(a|a)*$", text + "!"));
  EXPECT_FALSE(found("^(a|aa)+$", text + "!"));
  EXPECT_FALSE(found("^(.*a){20}b$", text));
  EXPECT_NE(refusal_of_pattern("((a{1000}){1000}){1000}"), "");
  std::string empty = "a";
  for (int i = 0; i < 40; ++i) empty = "(?:|(?:){1000}){1000}" + empty;
  EXPECT_NE(refusal_of_pattern(empty), "");
  std::string nested;
  for (int i = 0; i < 40; ++i) nested = "(?:" + nested + "){1000}";
  EXPECT_EQ(refusal_of_pattern(nested), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace runs

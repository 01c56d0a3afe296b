#include <ry/cpp/utf8.hpp>

#include <gtest/gtest.h>

namespace {

// Every scalar value in UTF-8, as the standard's table 3-6 defines it.
TEST(utf8, every_character_round_trips) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c == 0xD800) c = 0xE000;  // surrogates are not characters
    std::string text;
    ry::append_utf8(text, c);
    ASSERT_EQ(ry::utf8_length(text + "x"), text.size()) << std::uint32_t{c};
    std::string_view rest = text;
    ASSERT_EQ(ry::next_code_point(rest), c);
    ASSERT_TRUE(rest.empty());
    for (std::size_t n = 1; n < text.size(); ++n) ASSERT_EQ(ry::utf8_length(text.substr(0, n)), 0u);
  }
}

TEST(utf8, rejects_malformed_utf8) {
  const char* invalid[] = {"\x80",         "\xBF",         "\xC0\x80",         "\xC1\xBF",         "\xE0\x9F\xBF",
                           "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
                           "\xFF",         "\xC3\x28",     "\xE2\x82\x28",     "\xF0\x9F\x90\x28"};
  for (const char* text : invalid) {
    EXPECT_EQ(ry::utf8_length(text), 0u) << text;
    EXPECT_FALSE(ry::is_utf8(std::string("valid ") + text));
    EXPECT_TRUE(ry::is_utf8(ry::to_valid_utf8(text)));
  }
  EXPECT_TRUE(ry::is_utf8(""));
  EXPECT_EQ(ry::to_valid_utf8("a\xC3z\xE2\x82\xAC"), "a\xEF\xBF\xBDz\xE2\x82\xAC");
}

TEST(utf8, truncation_never_splits_a_character) {
  const std::string text = "a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x90\x8D";
  std::size_t last = 0;
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const std::size_t whole = ry::whole_characters(std::string_view(text).substr(0, n));
    EXPECT_TRUE(ry::is_utf8(std::string_view(text).substr(0, whole))) << n;
    EXPECT_GE(whole, last);
    last = whole;
  }
  EXPECT_EQ(last, text.size());
  EXPECT_EQ(ry::whole_characters("\x80\x80\x80\x80"), 4u) << "invalid bytes are not held back forever";
}

}  // namespace

#include "unicode.hpp"

#include <gtest/gtest.h>

namespace unicode {
namespace {

TEST(unicode_text, is_blank_without_visible_characters) {
  for (const char* blank : {"", " ", "\t\r\n\f\v", "\xC2\xA0", "\xC2\x85", "\xE1\x9A\x80", "\xE2\x80\x83",
                            "\xE2\x80\x8B", "\xE2\x80\x8D", "\xE2\x80\xA8", "\xE2\x80\xAE", "\xE2\x81\xA0",
                            "\xE3\x80\x80", "\xEF\xBB\xBF", "\xC2\xAD", "\xF3\xA0\x80\xA0", "\x01", " \xE2\x80\x8B\n"})
    EXPECT_TRUE(is_blank(blank)) << blank;
  for (const char* visible :
       {"x", " . ", "0", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x99\x82", "\xFF", "\xE2\x80", "\xC0\x80"})
    EXPECT_FALSE(is_blank(visible)) << visible;
}

TEST(unicode_text, clean_name_removes_control_characters_and_surrounding_spaces) {
  const struct {
    const char *input, *cleaned;
  } names[] = {
      {"Ann", "Ann"},
      {"  Ann  Lee ", "Ann  Lee"},
      {"\xC2\xA0"
       "Ann\xE3\x80\x80",
       "Ann"},
      {"\xEF\xBB\xBF"
       "Ann\xE2\x80\x8B",
       "Ann"},
      {"a\x01"
       "b\x7F"
       "c\xC2\x9B",
       "abc"},
      {"Ann\r\nLee\n", "Ann  Lee"},
      {"\xE2\x80\xAE"
       "gnp.exe\xE2\x80\xAC",
       "gnp.exe"},
      {"\xE2\x81\xA6"
       "x\xE2\x81\xA9\xD8\x9C",
       "x"},
      {"\xE2\x80\x8B \xE2\x80\x8D", ""},
      // A heart with its variation selector, a family of joined emoji, a Persian word with a non-joiner.
      {"\xE2\x9D\xA4\xEF\xB8\x8F", "\xE2\x9D\xA4\xEF\xB8\x8F"},
      {"\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA7", "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA7"},
      {"\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xB1", "\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xB1"},
  };
  for (const auto& n : names) EXPECT_EQ(clean_name(n.input), n.cleaned) << n.input;
}

}  // namespace
}  // namespace unicode

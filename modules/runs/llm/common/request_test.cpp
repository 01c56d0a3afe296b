#include "request.hpp"

#include <gtest/gtest.h>

namespace {

TEST(request, is_blank_accepts_unicode_white_space_and_invisible_characters) {
  for (std::string_view blank : {"", " ", "\n\t\r ", "\u00a0", "\u2003\u3000", "\u200b\u200d\ufeff", "\u00ad", "\u2060",
                                 "\U000e0041", "\x01", "\u2028\u2029\u0085"})
    EXPECT_TRUE(llm::is_blank(blank)) << blank;
  // U+3164 (Hangul filler) is a letter, although it is invisible.
  for (std::string_view text : {"a", " . ", "\u00e9", "\u200b0", "\U0001f600", "\u4e2d", "\u3164"})
    EXPECT_FALSE(llm::is_blank(text)) << text;
}

}  // namespace

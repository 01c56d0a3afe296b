#include "plain_text.hpp"

#include <gtest/gtest.h>

using namespace extract;
using namespace std::string_literals;

namespace {

std::string text(const std::string& bytes, part of = part::whole) {
  const plain_text t = read_text(bytes, of);
  return t.is == plain_text::outcome::read ? t.text : t.is == plain_text::outcome::binary ? "(binary)" : "(unknown)";
}

TEST(plain_text_test, encodings_are_converted_to_utf8) {
  EXPECT_EQ(text("plain\n"), "plain\n");
  EXPECT_EQ(text(""), "");
  EXPECT_EQ(text("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(text("\xEF\xBB\xBFmarked"), "marked");
  EXPECT_EQ(text("\xFF\xFEh\0\xFC\0\x3D\xD8\0\xDE"s), "h\xC3\xBC\xF0\x9F\x98\x80");
  EXPECT_EQ(text("\xFE\xFF\0h\0\xFC"s), "h\xC3\xBC");
  EXPECT_EQ(text("gr\xFC\xDF \x80 5"), "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC 5");
  EXPECT_EQ(text("\xFF\xFE\x3D\xD8"s), "\xEF\xBF\xBD") << "unpaired surrogate";
}

TEST(plain_text_test, the_beginning_of_a_file_may_end_within_a_character) {
  EXPECT_EQ(text("gr\xC3", part::beginning), "gr");
  EXPECT_EQ(text("gr\xC3"), "(unknown)") << "a whole file that ends within a character is not UTF-8";
  EXPECT_EQ(text("\xFF\xFEh\0\xFC"s, part::beginning), "h");
}

TEST(plain_text_test, truncation_does_not_split_characters) {
  const auto cut = [](std::string s, std::size_t max_bytes) {
    const bool was_cut = cut_text(s, max_bytes);
    return s + (was_cut ? "|" : "");
  };
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("abcd", 3), "abc|");
  EXPECT_EQ(cut("a\xC3\xA9z", 3), "a\xC3\xA9|") << "a character that ends at the limit is kept";
  EXPECT_EQ(cut("a\xC3\xA9z", 2), "a|");
  EXPECT_EQ(cut("\xF0\x9F\x98\x80", 3), "|");
  EXPECT_EQ(cut("\xE2\x82\xAC\xE2\x82\xAC", 4), "\xE2\x82\xAC|");
  EXPECT_EQ(cut(std::string(9, '\x80'), 5).size(), 6u) << "invalid UTF-8";
}

TEST(plain_text_test, binary_data_is_not_text) {
  EXPECT_EQ(text("a\0b"s), "(binary)");
  EXPECT_EQ(text("\x7F"
                 "ELF\x02\x01\x01"),
            "(binary)");
  EXPECT_EQ(text("colours \x1B[31mred\x1B[0m"), "colours \x1B[31mred\x1B[0m");
}

TEST(plain_text_test, wide_encodings_need_no_byte_order_mark) {
  EXPECT_EQ(text("n\0a\0m\0e\0\n\0"s), "name\n");
  EXPECT_EQ(text("\0n\0a\0m\0e\0\n"s), "name\n");
  EXPECT_EQ(text("n\0\0\0o\0\0\0"s), "no");
  EXPECT_EQ(text("\0\0\0n\0\0\0o"s), "no");
  EXPECT_EQ(text("\xFF\xFE\0\0n\0\0\0"s), "n");
  EXPECT_EQ(text("\0\0\xFE\xFF\0\0\0n"s), "n");
  EXPECT_EQ(text("\x01\0\x02\0"s), "(binary)") << "control characters";
}

TEST(plain_text_test, a_damaged_character_is_replaced) {
  const plain_text t = read_text(
      "gr\xC3\xBC\xC3\x9F, sch\xC3\xB6n, f\xC3\xBCr, \xC3\xBC"
      "ber, k\xC3\xBCr, s\xC3\xBC\xC3\x9F, m\xC3\xBC"
      "de \xFF",
      part::whole);
  EXPECT_EQ(t.is, plain_text::outcome::read);
  EXPECT_TRUE(t.damaged);
  EXPECT_EQ(t.encoding, "");
  EXPECT_TRUE(
      t.text.ends_with("m\xC3\xBC"
                       "de \xEF\xBF\xBD"));
}

TEST(plain_text_test, an_undetectable_encoding_is_reported) {
  EXPECT_EQ(text("\xE8"
                 "aj\n"),
            "(unknown)")
      << "plausible in Windows-1250 and in Windows-1252";
}

}  // namespace

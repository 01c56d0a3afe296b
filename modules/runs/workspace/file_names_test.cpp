#include "workspace/file_names.hpp"

#include <gtest/gtest.h>

using namespace runs;

namespace {

using names = std::vector<std::string>;

TEST(file_names_test, names_that_look_the_same_have_the_same_key) {
  EXPECT_EQ(name_key("cafe\xCC\x81.txt"), name_key("caf\xC3\xA9.txt")) << "NFD and NFC";
  for (const char* blank : {"\xC2\xA0", "\xE2\x80\xAF", "\xE3\x80\x80", "\xE2\x80\x89", "\xE2\x80\x87", "\xE1\x9A\x80",
                            "\xE2\x81\x9F", "  "})
    EXPECT_EQ(name_key(std::string("notes 3.04") + blank + "PM.txt"), "notes 3.04 PM.txt") << blank;
  EXPECT_EQ(name_key("Ann\xE2\x80\x99s \xE2\x80\x9Cplan\xE2\x80\x9D.txt"), "Ann's \"plan\".txt");
  EXPECT_EQ(name_key("2025\xE2\x80\x93"
                     "2026.txt"),
            "2025-2026.txt");
  EXPECT_EQ(name_key("a\xE2\x80\x8B"
                     "b.txt"),
            "ab.txt")
      << "zero width";
  EXPECT_EQ(name_key("\xEF\xBC\xA1.txt"), "A.txt") << "full width";
  EXPECT_EQ(name_key("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"), name_key("\xED\x95\x9C")) << "Hangul";
  EXPECT_NE(name_key("a.txt"), name_key("A.txt"));
  EXPECT_NE(name_key("e.txt"), name_key("\xC3\xA9.txt"));
  EXPECT_EQ(name_key("\xFF.txt"), "\xFF.txt") << "not UTF-8";
  EXPECT_EQ(name_key(""), "");
}

TEST(file_names_test, an_exact_match_wins_and_otherwise_all_matches_are_returned) {
  EXPECT_EQ(names_like("a b.txt", {"a\xC2\xA0"
                                   "b.txt",
                                   "c.txt"}),
            (names{"a\xC2\xA0"
                   "b.txt"}));
  EXPECT_EQ(names_like("a b.txt", {"a\xC2\xA0"
                                   "b.txt",
                                   "a b.txt"}),
            (names{"a b.txt"}));
  EXPECT_EQ(names_like("a b.txt", {"a\xC2\xA0"
                                   "b.txt",
                                   "a\xE3\x80\x80"
                                   "b.txt"}),
            (names{"a\xC2\xA0"
                   "b.txt",
                   "a\xE3\x80\x80"
                   "b.txt"}));
  EXPECT_EQ(names_like("a b.txt", {"ab.txt"}), names{});
}

}  // namespace

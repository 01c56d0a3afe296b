#include "workspace/safe_file_name.hpp"

#include <gtest/gtest.h>
#include <ry/cpp/utf8.hpp>
#include <vector>

using namespace runs;

namespace {

TEST(safe_file_name_test, unsafe_names_are_cleaned) {
  EXPECT_EQ(safe_file_name("report.pdf"), "report.pdf");
  EXPECT_EQ(safe_file_name("../../etc/passwd"), "passwd");
  EXPECT_EQ(safe_file_name("C:\\Users\\me\\notes.txt"), "notes.txt");
  EXPECT_EQ(safe_file_name("..."), "file");
  EXPECT_EQ(safe_file_name(""), "file");
  EXPECT_EQ(safe_file_name("/"), "file");
  EXPECT_EQ(safe_file_name("-rf.txt"), "rf.txt");
  EXPECT_EQ(safe_file_name(".bashrc"), "bashrc");
  EXPECT_EQ(safe_file_name("a\nb]\x01;rm *.txt"), "a_b___rm _.txt");
  EXPECT_EQ(safe_file_name("\xC3\xBC"
                           "ber.txt"),
            "\xC3\xBC"
            "ber.txt");
  EXPECT_EQ(safe_file_name("x\xFF.txt"), "x_.txt");
  EXPECT_EQ(safe_file_name("invoice\xE2\x80\xAE"
                           "fdp.exe"),
            "invoicefdp.exe")
      << "U+202E";
  EXPECT_EQ(safe_file_name("\xEF\xBB\xBF"
                           "a\xE2\x80\x8B"
                           "b\xC2\xAD"
                           "c\xE2\x81\xA6.txt"),
            "abc.txt");
  EXPECT_EQ(safe_file_name("\xF3\xA0\x81\x81.\xC2\x85"), "file");
  EXPECT_EQ(safe_file_name("\xF0\x9F\x93\x84 \xD9\x85.pdf"), "\xF0\x9F\x93\x84 \xD9\x85.pdf");
  const std::string longest = safe_file_name(std::string(500, 'a') + ".tar");
  EXPECT_EQ(longest.size(), 120u);
  EXPECT_TRUE(longest.ends_with(".tar"));
  std::string euros;
  for (int i = 0; i < 100; ++i) euros += "\xE2\x82\xAC";
  EXPECT_TRUE(ry::is_utf8(safe_file_name(euros + ".md")));
}

TEST(free_name_test, name_collisions_get_suffixes) {
  std::set<std::string> taken{"c.md"};
  std::vector<std::string> given;
  for (std::string name : {"a.txt", "a.txt", "b", "a.txt", "b", "a_2.txt", "c.md"})
    given.push_back(unique_name(name, taken));
  EXPECT_EQ(given, (std::vector<std::string>{"a.txt", "a_2.txt", "b", "a_3.txt", "b_2", "a_2_2.txt", "c_2.md"}));
}

}  // namespace

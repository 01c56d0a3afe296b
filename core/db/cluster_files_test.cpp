#include "core/db/cluster_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace ry::db::embedded {
namespace {

std::string lines(int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += "line " + std::to_string(1000 + i) + " of the log\n";
  return out;
}

TEST(cluster_files, the_tail_starts_at_a_line_boundary) {
  const auto seen = tail(lines(100));
  EXPECT_TRUE(seen.starts_with("line 10")) << seen;
  EXPECT_TRUE(seen.ends_with("line 1099 of the log")) << seen;
  EXPECT_GT(seen.size(), 500u);
  EXPECT_EQ(tail("short\ntext\n\n"), "short text");
}

TEST(cluster_files, the_tail_of_one_long_line_starts_at_a_word_boundary) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "word" + std::to_string(1000 + i) + " ";
  EXPECT_TRUE(tail(text).starts_with("word1")) << tail(text);
  EXPECT_EQ(tail(std::string(1000, 'x')).size(), 600u);
}

TEST(cluster_files, the_tail_of_a_file_starts_at_a_line_boundary) {
  const auto file = std::filesystem::temp_directory_path() / ("ry-tail-" + std::to_string(::getpid()));
  for (const auto& end : {std::string(), std::string(80, '\n')}) {
    std::ofstream(file) << lines(100) << end;
    const auto seen = tail_of(file);
    EXPECT_TRUE(seen.starts_with("line 10")) << seen;
    EXPECT_TRUE(seen.ends_with("line 1099 of the log")) << seen;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace ry::db::embedded

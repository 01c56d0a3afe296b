#include "walk_tree.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "remove_tree.hpp"

namespace fs = std::filesystem;

namespace {

class walk_tree_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-walk-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    fd = ::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
  }
  void TearDown() override {
    ::close(fd);
    disk::remove_tree(root);
  }
  disk::tree_use use(const disk::tree_limits& limits = {}) {
    disk::tree_use out;
    EXPECT_EQ(disk::measure_tree(fd, limits, out), 0);
    return out;
  }

  std::string root;
  int fd = -1;
};

TEST_F(walk_tree_test, counts_entries_and_bytes_of_every_kind) {
  fs::create_directories(root + "/a/b");
  std::ofstream(root + "/a/b/file") << std::string(1 << 20, 'x');
  fs::create_hard_link(root + "/a/b/file", root + "/again");
  fs::create_symlink("nothing", root + "/link");
  ASSERT_EQ(::mkfifo((root + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(use().entries, 6u);
  EXPECT_GE(use().bytes, (1u << 20) + 4 * 4096u);
  EXPECT_LT(use().bytes, (1u << 20) + 64 * 1024u);
}

TEST_F(walk_tree_test, counting_stops_when_a_limit_is_exceeded) {
  for (int i = 0; i < 300; ++i) std::ofstream(root + "/" + std::to_string(i)) << "x";
  EXPECT_FALSE(use({UINT64_MAX, 300}).partial);
  EXPECT_TRUE(use({UINT64_MAX, 299}).partial);
  EXPECT_EQ(use({UINT64_MAX, 10}).entries, 11u);
  EXPECT_TRUE(use({100 * 4096, UINT64_MAX}).partial);
}

TEST_F(walk_tree_test, reports_directories_that_are_too_deep_without_entering_them) {
  int at = ::dup(fd);
  for (std::size_t i = 0; i < disk::max_depth + 50; ++i) {
    ASSERT_EQ(::mkdirat(at, "d", 0755), 0);
    const int inner = ::openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(at);
    at = inner;
  }
  ::close(at);
  EXPECT_TRUE(use().too_deep);
  EXPECT_EQ(use().entries, disk::max_depth);
}

}  // namespace

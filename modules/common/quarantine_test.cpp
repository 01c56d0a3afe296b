#include "quarantine.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace fs = std::filesystem;
using disk::quarantine;

namespace {

class quarantine_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-quarantine-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    trees.emplace(root + "/.removed");
  }
  void TearDown() override {
    if (!protected_file.empty()) protect(protected_file, false);
    disk::remove_tree(root);
  }
  void make(const std::string& name) {
    fs::create_directories(root + "/" + name + "/inner");
    std::ofstream(root + "/" + name + "/inner/file") << "x";
  }
  // Sets the immutable attribute: not even root can remove such a file. Returns false if the attribute is not
  // supported.
  bool protect(const std::string& path, bool on) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    int flags = 0;
    bool done = fd >= 0 && ::ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;
    flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
    done = done && ::ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
    ::close(fd);
    return done;
  }

  std::string root, protected_file;
  std::optional<quarantine> trees;
};

TEST_F(quarantine_test, moving_a_tree_in_frees_its_name_immediately) {
  make("a");
  ASSERT_EQ(trees->move_in(root + "/a", "a"), 0);
  EXPECT_FALSE(fs::exists(root + "/a"));
  make("a");
  ASSERT_EQ(trees->move_in(root + "/a", "a"), 0);
  make("b");
  ASSERT_EQ(trees->move_in(root + "/b", "b"), 0);
  EXPECT_EQ(trees->size(), 3u);
  EXPECT_TRUE(trees->clear("a").complete());
  EXPECT_EQ(trees->size(), 1u);
  EXPECT_EQ(trees->move_in(root + "/nothing", "c"), 0);
  EXPECT_TRUE(trees->clear_due(quarantine::clock::now()).empty());
  EXPECT_EQ(trees->size(), 0u);
  EXPECT_FALSE(trees->next_attempt());
  EXPECT_TRUE(fs::is_empty(root + "/.removed"));
}

TEST_F(quarantine_test, a_later_process_finds_trees_of_an_earlier_one) {
  make("a");
  ASSERT_EQ(trees->move_in(root + "/a", "a"), 0);
  quarantine later(root + "/.removed");
  EXPECT_EQ(later.size(), 1u);
  ASSERT_TRUE(later.next_attempt());
  EXPECT_LE(*later.next_attempt(), quarantine::clock::now());
  EXPECT_TRUE(later.clear("a").complete());
  EXPECT_TRUE(fs::is_empty(root + "/.removed"));
}

TEST_F(quarantine_test, an_interrupted_removal_continues) {
  make("a");
  for (int i = 0; i < 600; ++i) std::ofstream(root + "/a/" + std::to_string(i)) << "x";
  ASSERT_EQ(trees->move_in(root + "/a", "a"), 0);
  const disk::removal first = trees->clear("a", [] { return true; });
  EXPECT_TRUE(first.stopped);
  EXPECT_EQ(trees->size(), 1u);
  EXPECT_TRUE(trees->clear_due(quarantine::clock::now() + std::chrono::seconds(5)).empty());
  EXPECT_EQ(trees->size(), 0u);
}

TEST_F(quarantine_test, failures_are_reported_with_their_cause_and_back_off) {
  make("a");
  protected_file = root + "/a/inner/file";
  if (!protect(protected_file, true)) {
    protected_file.clear();
    GTEST_SKIP() << "the immutable attribute cannot be set here";
  }
  ASSERT_EQ(trees->move_in(root + "/a", "a"), 0);
  for (const auto& entry : fs::directory_iterator(root + "/.removed"))
    protected_file = entry.path().string() + "/inner/file";
  auto now = quarantine::clock::now();
  quarantine::clock::duration pause{};
  for (std::uint64_t attempt = 1; attempt <= 4; ++attempt) {
    const auto failed = trees->clear_due(now);
    ASSERT_EQ(failed.size(), 1u);
    EXPECT_EQ(failed[0].error, EPERM);
    EXPECT_EQ(failed[0].attempts, attempt);
    EXPECT_TRUE(failed[0].name.starts_with("a."));
    const auto next = *trees->next_attempt();
    EXPECT_GT(next - quarantine::clock::now(), pause);
    pause = next - quarantine::clock::now();
    EXPECT_TRUE(trees->clear_due(quarantine::clock::now()).empty());  // not due yet
    now = next;
  }
  for (int i = 0; i < 40; ++i) trees->clear_due(*trees->next_attempt());
  EXPECT_LE(*trees->next_attempt() - quarantine::clock::now(), std::chrono::minutes(10));
  ASSERT_TRUE(protect(protected_file, false));
  EXPECT_TRUE(trees->clear("a").complete());
  EXPECT_EQ(trees->size(), 0u);
}

}  // namespace

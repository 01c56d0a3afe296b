#include "remove_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace fs = std::filesystem;

namespace {

class remove_tree_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-remove-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    tree = root + "/tree";
    ASSERT_EQ(::mkdir(tree.c_str(), 0755), 0);
  }
  void TearDown() override { disk::remove_tree(root); }

  // Creates a chain of directories with a file at its end, too deep for any path.
  static void make_chain(const std::string& in, int levels) {
    int at = ::open(in.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < levels; ++i) {
      ASSERT_EQ(::mkdirat(at, "d", 0755), 0) << i;
      const int inner = ::openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      ::close(at);
      at = inner;
      ASSERT_GE(at, 0);
    }
    const int file = ::openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_GE(file, 0);
    ::close(file);
    ::close(at);
  }
  static std::size_t open_descriptors() {
    std::size_t n = 0;
    DIR* all = ::opendir("/proc/self/fd");
    while (::readdir(all) != nullptr) ++n;
    ::closedir(all);
    return n;
  }

  std::string root, tree;
};

TEST_F(remove_tree_test, removes_directories_at_any_depth_with_few_descriptors) {
  make_chain(tree, 3000);
  const rlim_t limit = open_descriptors() + disk::max_open_levels + 8;
  // Runs in a child process, because the limit applies to the entire process.
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit descriptor_limit{limit, limit};
    ::setrlimit(RLIMIT_NOFILE, &descriptor_limit);
    ::_exit(disk::remove_tree(tree).complete() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(fs::exists(tree));
}

TEST_F(remove_tree_test, removes_several_chains_that_share_a_directory) {
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_EQ(::mkdir((tree + "/" + name).c_str(), 0755), 0);
    make_chain(tree + "/" + name, 300);
  }
  // Occupies names that the removal itself uses.
  for (int i = 0; i < 40; ++i) {
    const std::string taken = tree + "/.ry-moved-" + std::to_string(i);
    if (i % 2 == 0) {
      ASSERT_EQ(::mkdir(taken.c_str(), 0755), 0);
      std::ofstream(taken + "/x") << "x";
    } else {
      std::ofstream(taken) << "x";
    }
  }
  EXPECT_TRUE(disk::remove_tree(tree).complete());
  EXPECT_FALSE(fs::exists(tree));
}

TEST_F(remove_tree_test, removes_entries_of_every_kind_without_following_links) {
  std::ofstream(root + "/outside") << "keep";
  ASSERT_EQ(::mkdir((root + "/directory").c_str(), 0755), 0);
  std::ofstream(root + "/directory/file") << "keep";
  ASSERT_EQ(::symlink((root + "/outside").c_str(), (tree + "/link").c_str()), 0);
  ASSERT_EQ(::symlink((root + "/directory").c_str(), (tree + "/directory").c_str()), 0);
  ASSERT_EQ(::symlink("loop", (tree + "/loop").c_str()), 0);
  ASSERT_EQ(::mkfifo((tree + "/pipe").c_str(), 0600), 0);
  std::ofstream(tree + "/" + std::string(255, '\xff')) << "x";
  std::ofstream(tree + "/new\nline") << "x";
  EXPECT_TRUE(disk::remove_tree(tree).complete());
  EXPECT_FALSE(fs::exists(tree));
  EXPECT_TRUE(fs::exists(root + "/outside"));
  EXPECT_TRUE(fs::exists(root + "/directory/file"));
}

TEST_F(remove_tree_test, removes_directories_without_permissions_as_an_ordinary_user) {
  for (const char* name : {"/a", "/a/b", "/a/b/c"}) ASSERT_EQ(::mkdir((tree + name).c_str(), 0755), 0);
  std::ofstream(tree + "/a/b/c/file") << "x";
  make_chain(tree + "/a/b/c", 40);
  const uid_t other = 61000;
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(root.c_str(), other, other), 0);
    ASSERT_EQ(::chown(tree.c_str(), other, other), 0);
    for (const auto& entry : fs::recursive_directory_iterator(tree))
      ASSERT_EQ(::lchown(entry.path().c_str(), other, other), 0);
  }
  for (const char* name : {"/a/b/c", "/a/b", "/a", ""}) ASSERT_EQ(::chmod((tree + name).c_str(), 0), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setresuid(other, other, other) != 0) ::_exit(2);
    ::_exit(disk::remove_tree(tree).complete() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_FALSE(fs::exists(tree));
}

TEST_F(remove_tree_test, removes_a_tree_that_another_process_modifies) {
  std::atomic<bool> done{false};
  std::atomic<int> moves{0};
  std::thread changer([&] {
    for (int i = 0; !done; ++i) {
      const std::string name = tree + "/d" + std::to_string(i % 50);
      ::mkdir(tree.c_str(), 0755);
      ::mkdir(name.c_str(), 0755);
      if (::rename(name.c_str(), (tree + "/d" + std::to_string((i + 7) % 50) + "/in").c_str()) == 0) ++moves;
    }
  });
  while (moves < 500) disk::remove_tree(tree, disk::stop_after(std::chrono::milliseconds(50)));
  done = true;
  changer.join();
  EXPECT_TRUE(disk::remove_tree(tree).complete());
  EXPECT_FALSE(fs::exists(tree));
}

TEST_F(remove_tree_test, reports_the_first_error_and_removes_the_rest) {
  const uid_t other = 61000;
  if (::geteuid() != 0) GTEST_SKIP() << "only root can create a directory of another user";
  ASSERT_EQ(::chmod(root.c_str(), 0755), 0);
  ASSERT_EQ(::chown(tree.c_str(), other, other), 0);
  for (const char* name : {"/a", "/b", "/c"}) {
    ASSERT_EQ(::mkdir((tree + name).c_str(), 0755), 0);
    std::ofstream(tree + name + "/file") << "x";
  }
  ASSERT_EQ(::chown((tree + "/a").c_str(), other, other), 0);
  ASSERT_EQ(::chown((tree + "/c").c_str(), other, other), 0);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::setresuid(other, other, other) != 0 ? 255 : disk::remove_tree(tree).error);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), EACCES);
  EXPECT_FALSE(fs::exists(tree + "/a"));
  EXPECT_TRUE(fs::exists(tree + "/b/file"));
  EXPECT_FALSE(fs::exists(tree + "/c"));
}

TEST_F(remove_tree_test, a_stopped_removal_can_be_continued) {
  for (int i = 0; i < 600; ++i) std::ofstream(tree + "/" + std::to_string(i)) << "x";
  const disk::removal first = disk::remove_tree(tree, [] { return true; });
  EXPECT_TRUE(first.stopped);
  EXPECT_FALSE(first.complete());
  EXPECT_TRUE(fs::exists(tree));
  EXPECT_TRUE(disk::remove_tree(tree).complete());
  EXPECT_FALSE(fs::exists(tree));
}

TEST_F(remove_tree_test, a_missing_path_counts_as_removed_and_a_file_is_removed) {
  EXPECT_TRUE(disk::remove_tree(root + "/nothing").complete());
  std::ofstream(root + "/file") << "x";
  EXPECT_TRUE(disk::remove_tree(root + "/file").complete());
  EXPECT_FALSE(fs::exists(root + "/file"));
}

}  // namespace

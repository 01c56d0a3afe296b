#include "contents.hpp"
#include "workspace.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/remove_tree.hpp"

namespace fs = std::filesystem;
using namespace bubblewrap;

namespace {

const std::string project = "0192f0c1-2d3e-7f00-8a1b-0123456789ab";

class contents_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-contents-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    all = std::make_unique<workspaces>(root.string());
    ASSERT_FALSE(all->ensure(project, std::nullopt));
    home = root / project;
  }
  void TearDown() override { disk::remove_tree(root.string()); }

  disk::tree_use use() {
    unique_fd workspace;
    EXPECT_FALSE(all->open_workspace(project, workspace));
    disk::tree_use out;
    const file_error e = measure(workspace.get(), {}, out);
    EXPECT_FALSE(e) << e.message;
    return out;
  }
  void fill(const fs::path& path, std::size_t bytes) { std::ofstream(path) << std::string(bytes, 'x'); }

  fs::path root, home;
  std::unique_ptr<workspaces> all;
};

TEST_F(contents_test, counts_allocated_disk_space) {
  EXPECT_EQ(use().bytes, 0u);
  fill(home / "big", 1 << 20);
  fs::create_directories(home / "a/b");
  fill(home / "a/b/small", 1);
  fill(home / ".ry-new-hidden", 1);
  EXPECT_GE(use().bytes, (1u << 20) + 4 * 4096u);
  EXPECT_LT(use().bytes, (1u << 20) + 64 * 1024u);
}

TEST_F(contents_test, holes_and_links_do_not_count) {
  fill(home / "file", 1 << 20);
  fs::create_hard_link(home / "file", home / "again");
  fs::create_symlink("/usr", home / "outside");
  fs::create_symlink(home, home / "round");
  fill(home / "hole", 0);
  fs::resize_file(home / "hole", 1u << 30);
  EXPECT_LT(use().bytes, (1u << 20) + 64 * 1024u);
}

TEST_F(contents_test, inaccessible_and_deep_directories_count) {
  fs::create_directory(home / "closed");
  fill(home / "closed/file", 1 << 20);
  fs::permissions(home / "closed", fs::perms::none);
  EXPECT_GE(use().bytes, 1u << 20);

  // Nested deeper than the longest path that a system call accepts.
  int at = ::open(home.c_str(), O_RDONLY | O_DIRECTORY);
  const std::string name(200, 'd');
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(::mkdirat(at, name.c_str(), 0755), 0);
    const int next = ::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY);
    ::close(at);
    at = next;
  }
  const int file = ::openat(at, "file", O_WRONLY | O_CREAT, 0644);
  ASSERT_EQ(::ftruncate(file, 0), 0);
  const std::string text(1 << 20, 'x');
  ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(file);
  EXPECT_GE(use().bytes, 2u << 20);
  EXPECT_FALSE(use().too_deep);

  for (int i = 0; i < 250; ++i) {
    ASSERT_EQ(::mkdirat(at, "d", 0755), 0);
    const int next = ::openat(at, "d", O_RDONLY | O_DIRECTORY);
    ::close(at);
    at = next;
  }
  ::close(at);
  EXPECT_TRUE(use().too_deep);

  unique_fd workspace;
  ASSERT_FALSE(all->open_workspace(project, workspace));
  bool trimmed = false;
  ASSERT_FALSE(trim_deep(workspace.get(), trimmed));
  EXPECT_TRUE(trimmed);
  EXPECT_FALSE(use().too_deep);
  EXPECT_GE(use().bytes, 2u << 20);  // higher directories remain
  ASSERT_FALSE(trim_deep(workspace.get(), trimmed));
  EXPECT_FALSE(trimmed);
}

TEST_F(contents_test, a_workspace_of_the_server_is_given_to_the_projects_user) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the owner of files";
  fs::create_directories(home / "a/b");
  fill(home / "a/b/file", 1);
  fill(root / "not-ours", 1);
  fs::create_symlink(root / "not-ours", home / "a/link");
  constexpr uid_t owner = 61185;
  ASSERT_FALSE(all->ensure(project, owner));
  for (const char* path : {"", "a", "a/b", "a/b/file", "a/link"}) {
    struct stat status {};
    ASSERT_EQ(::lstat((home / path).c_str(), &status), 0) << path;
    EXPECT_EQ(status.st_uid, owner) << path;
    EXPECT_EQ(status.st_gid, owner) << path;
  }
  struct stat outside {};
  ASSERT_EQ(::stat((root / "not-ours").c_str(), &outside), 0);
  EXPECT_EQ(outside.st_uid, 0u);
}

}  // namespace

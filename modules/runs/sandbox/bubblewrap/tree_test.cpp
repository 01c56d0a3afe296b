#include "tree.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

namespace fs = std::filesystem;
using namespace bubblewrap;

namespace {

const std::string project = "0192f0c1-2d3e-7f00-8a1b-0123456789ab";

class tree_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-tree-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    fs::create_directory(root / "all");
    files = std::make_unique<workspaces>((root / "all").string());
    ASSERT_FALSE(files->ensure(project, std::nullopt));
    home = root / "all" / project;
  }
  void TearDown() override { fs::remove_all(root); }

  std::vector<tree_entry> scan() {
    std::vector<tree_entry> out;
    const file_error e = scan_tree(*files, project, 1000, out);
    EXPECT_FALSE(e) << e.message;
    return out;
  }
  std::map<std::string, tree_entry> by_path() {
    std::map<std::string, tree_entry> out;
    for (tree_entry& e : scan()) out.emplace(e.path, e);
    return out;
  }
  file_error place(std::uint32_t kind, std::string path, std::string content_or_target = {}) {
    tree_entry e;
    e.kind = kind;
    e.path = std::move(path);
    e.mode = 0640;
    e.modified_ns = 1'600'000'000'123'456'789;
    const fs::path spool = root / "spool";
    if (kind == RY_SANDBOX_FILE) std::ofstream(spool) << content_or_target;
    e.target = std::move(content_or_target);
    return place_entry(*files, project, e, spool.string(), std::nullopt);
  }
  static std::string content(const fs::path& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  fs::path root, home;
  std::unique_ptr<workspaces> files;
};

TEST_F(tree_test, scan_lists_all_entries_with_parents_first) {
  fs::create_directories(home / "a/b");
  std::ofstream(home / "a/b/c.txt") << "hello";
  fs::create_symlink("../..", home / "a/up");
  ASSERT_EQ(::mkfifo((home / "pipe").c_str(), 0600), 0);
  std::ofstream(home / ".ry-new-0011") << "incomplete";
  const auto all = scan();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].path, "");
  EXPECT_NE(all[0].inode, 0u);
  const auto at = by_path();
  EXPECT_EQ(at.at("a").kind, RY_SANDBOX_DIR);
  EXPECT_EQ(at.at("a/b/c.txt").size, 5u);
  EXPECT_EQ(at.at("a/up").kind, RY_SANDBOX_LINK);
  EXPECT_EQ(at.at("a/up").target, "../..");
  const auto index = [&](std::string_view path) {
    return std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.path == path; });
  };
  EXPECT_LT(index("a"), index("a/b"));
  EXPECT_LT(index("a/b"), index("a/b/c.txt"));
  std::vector<tree_entry> few;
  EXPECT_EQ(scan_tree(*files, project, 2, few).status, RY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(scan_tree(*files, "0192f0c1-2d3e-7f00-8a1b-ffffffffffff", 2, few).status, RY_NOT_FOUND);
}

TEST_F(tree_test, place_creates_and_replaces_every_kind_of_entry) {
  for (const char* before : {"nothing", "file", "dir", "link"}) {
    const auto make = [&] {
      fs::remove_all(home / "x");
      if (std::string(before) == "file") std::ofstream(home / "x") << "old";
      if (std::string(before) == "dir") fs::create_directories(home / "x/y/z");
      if (std::string(before) == "link") fs::create_symlink("/etc", home / "x");
    };
    make();
    ASSERT_FALSE(place(RY_SANDBOX_FILE, "x", "new")) << before;
    EXPECT_EQ(content(home / "x"), "new");
    const tree_entry e = by_path().at("x");
    EXPECT_EQ(e.mode, 0640u);
    EXPECT_EQ(e.modified_ns, 1'600'000'000'123'456'789);
    EXPECT_FALSE(fs::exists(root / "spool"));
    make();
    ASSERT_FALSE(place(RY_SANDBOX_DIR, "x")) << before;
    EXPECT_TRUE(fs::is_directory(fs::symlink_status(home / "x")));
    make();
    ASSERT_FALSE(place(RY_SANDBOX_LINK, "x", "target")) << before;
    EXPECT_EQ(fs::read_symlink(home / "x"), "target");
    make();
    ASSERT_FALSE(place(RY_SANDBOX_DELETED, "x")) << before;
    EXPECT_FALSE(fs::exists(fs::symlink_status(home / "x")));
  }
  EXPECT_TRUE(fs::exists("/etc/passwd"));
  ASSERT_FALSE(place(RY_SANDBOX_FILE, "deep/er/f", "1"));
  EXPECT_EQ(content(home / "deep/er/f"), "1");
  ASSERT_FALSE(place(RY_SANDBOX_DELETED, "not/there"));
}

TEST_F(tree_test, place_never_leaves_the_workspace) {
  fs::create_directory(root / "outside");
  fs::create_symlink(root / "outside", home / "out");
  EXPECT_EQ(place(RY_SANDBOX_FILE, "out/f", "x").status, RY_PERMISSION_DENIED);
  EXPECT_EQ(place(RY_SANDBOX_FILE, "../f", "x").status, RY_PERMISSION_DENIED);
  EXPECT_NE(place(RY_SANDBOX_DELETED, "out/f").status, RY_OK);
  std::ofstream(root / "outside/kept") << "x";
  fs::create_directory(home / "d");
  fs::create_symlink(root / "outside", home / "d/link");
  ASSERT_FALSE(place(RY_SANDBOX_DELETED, "d"));
  EXPECT_TRUE(fs::exists(root / "outside/kept"));
  EXPECT_EQ(place(RY_SANDBOX_DELETED, "").status, RY_INVALID_ARGUMENT);
}

}  // namespace

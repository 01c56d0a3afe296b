#include "hidden_paths.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace bubblewrap;

namespace {

struct hidden_paths : ::testing::Test {
  fs::path root = fs::canonical(fs::temp_directory_path()) / ("ry-hidden-" + std::to_string(::getpid()));
  void SetUp() override {
    fs::create_directories(root / "home/user/.ssh");
    fs::create_directories(root / "home/user/project/.runyard/modules");
    fs::create_directories(root / "home/user/.config/gh");
    std::ofstream(root / "home/user/.netrc") << "password";
  }
  void TearDown() override { fs::remove_all(root); }
  std::string at(const std::string& path) const { return (root / path).string(); }
  std::vector<std::string> names(const std::vector<host_path>& host_paths, const std::vector<std::string>& hidden) {
    std::vector<std::string> out;
    for (const auto& each : hidden_paths_in(host_paths, hidden)) out.push_back(each.path);
    return out;
  }
};

TEST_F(hidden_paths, existing_credentials_are_found) {
  const auto found = credentials_in({at("home/user"), at("home/missing")});
  EXPECT_EQ(3u, found.size());
  for (const char* name : {"home/user/.ssh", "home/user/.netrc", "home/user/.config/gh"})
    EXPECT_NE(std::find(found.begin(), found.end(), at(name)), found.end()) << name;
}

TEST_F(hidden_paths, hidden_paths_below_a_host_path_are_found) {
  const std::string home = at("home"), project = at("home/user/project"), other = at("home/user/proj");
  const std::vector<std::string> hidden{at("home/user/project/.runyard"), at("home/user/.netrc"), at("missing")};
  EXPECT_EQ((std::vector<std::string>{at("home/user/.netrc"), at("home/user/project/.runyard")}),
            names({{home}}, hidden));
  EXPECT_EQ(std::vector<std::string>{at("home/user/project/.runyard")}, names({{project}}, hidden));
  EXPECT_TRUE(names({{other}}, hidden).empty());
  EXPECT_TRUE(names({{at("home/user/.ssh")}}, hidden).empty());
  const auto kinds = hidden_paths_in({{home}}, hidden);
  EXPECT_FALSE(kinds[0].directory);
  EXPECT_TRUE(kinds[1].directory);
}

TEST_F(hidden_paths, links_are_resolved) {
  fs::create_directory_symlink(root / "home/user", root / "link");
  fs::create_directory_symlink(root / "home/user/project/.runyard", root / "data");
  const std::string link = at("link");
  EXPECT_EQ(std::vector<std::string>{at("link/project/.runyard")}, names({{link}}, {at("data")}));
  EXPECT_TRUE(is_inside(at("data"), {at("home/user/project/.runyard")}));
  EXPECT_TRUE(is_inside(at("link/project/.runyard/modules"), {at("data")}));
  EXPECT_FALSE(is_inside(at("link/project"), {at("data")}));
}

TEST_F(hidden_paths, nested_paths_are_listed_once) {
  const std::string home = at("home");
  EXPECT_EQ(std::vector<std::string>{at("home/user/project/.runyard")},
            names({{home}}, {at("home/user/project/.runyard/modules"), at("home/user/project/.runyard"),
                             at("home/user/project/.runyard/")}));
}

}  // namespace

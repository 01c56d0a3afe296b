#include "hidden_places.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace bubblewrap;

namespace {

struct hidden_places : ::testing::Test {
  fs::path root = fs::canonical(fs::temp_directory_path()) / ("ry-hidden-" + std::to_string(::getpid()));
  void SetUp() override {
    fs::create_directories(root / "home/me/.ssh");
    fs::create_directories(root / "home/me/work/.runyard/modules");
    fs::create_directories(root / "home/me/.config/gh");
    std::ofstream(root / "home/me/.netrc") << "password";
  }
  void TearDown() override { fs::remove_all(root); }
  std::string at(const std::string& path) const { return (root / path).string(); }
  std::vector<std::string> names(const std::vector<host_place>& places, const std::vector<std::string>& hidden) {
    std::vector<std::string> out;
    for (const auto& each : hidden_in(places, hidden)) out.push_back(each.path);
    return out;
  }
};

TEST_F(hidden_places, credentials_that_are_there) {
  const auto found = credentials_in({at("home/me"), at("home/nobody")});
  EXPECT_EQ(3u, found.size());
  for (const char* name : {"home/me/.ssh", "home/me/.netrc", "home/me/.config/gh"})
    EXPECT_NE(std::find(found.begin(), found.end(), at(name)), found.end()) << name;
}

TEST_F(hidden_places, what_a_place_contains) {
  const std::string home = at("home"), work = at("home/me/work"), other = at("home/me/wor");
  const std::vector<std::string> hidden{at("home/me/work/.runyard"), at("home/me/.netrc"), at("missing")};
  EXPECT_EQ((std::vector<std::string>{at("home/me/.netrc"), at("home/me/work/.runyard")}), names({{home}}, hidden));
  EXPECT_EQ(std::vector<std::string>{at("home/me/work/.runyard")}, names({{work}}, hidden));
  EXPECT_TRUE(names({{other}}, hidden).empty());
  EXPECT_TRUE(names({{at("home/me/.ssh")}}, hidden).empty());
  const auto kinds = hidden_in({{home}}, hidden);
  EXPECT_FALSE(kinds[0].directory);
  EXPECT_TRUE(kinds[1].directory);
}

TEST_F(hidden_places, links_lead_to_the_same) {
  fs::create_directory_symlink(root / "home/me", root / "link");
  fs::create_directory_symlink(root / "home/me/work/.runyard", root / "data");
  const std::string link = at("link");
  EXPECT_EQ(std::vector<std::string>{at("link/work/.runyard")}, names({{link}}, {at("data")}));
  EXPECT_TRUE(lies_in(at("data"), {at("home/me/work/.runyard")}));
  EXPECT_TRUE(lies_in(at("link/work/.runyard/modules"), {at("data")}));
  EXPECT_FALSE(lies_in(at("link/work"), {at("data")}));
}

TEST_F(hidden_places, nested_ones_once) {
  const std::string home = at("home");
  EXPECT_EQ(std::vector<std::string>{at("home/me/work/.runyard")},
            names({{home}}, {at("home/me/work/.runyard/modules"), at("home/me/work/.runyard"), at("home/me/work/.runyard/")}));
}

}  // namespace

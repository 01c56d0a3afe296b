#include "api/spooled_files.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ry/ry.hpp>

namespace runs {
namespace {

namespace fs = std::filesystem;

struct spooled_files_test : testing::Test {
  std::string data_dir = (fs::temp_directory_path() / "ry-spooled-XXXXXX").string();
  void SetUp() override { ASSERT_NE(::mkdtemp(data_dir.data()), nullptr); }
  void TearDown() override { fs::remove_all(data_dir); }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(data_dir + "/starts"), {}));
  }
};

TEST_F(spooled_files_test, files_exist_as_long_as_their_owner) {
  {
    spooled_files files(data_dir);
    const std::string content("a\0b", 3);
    const std::string path = files.add(content);
    EXPECT_NE(files.add(""), path);
    std::ifstream in(path, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), content);
    EXPECT_EQ(count(), 2u);
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    fs::rename(path, data_dir + "/moved");
  }
  EXPECT_EQ(count(), 0u);
  EXPECT_TRUE(fs::exists(data_dir + "/moved"));
}

TEST_F(spooled_files_test, files_that_a_crash_left_are_removed) {
  fs::create_directory(data_dir + "/starts");
  for (const char* name : {"old", "new"}) std::ofstream(data_dir + "/starts/" + name) << "x";
  fs::last_write_time(data_dir + "/starts/old", fs::file_time_type::clock::now() - std::chrono::hours(2));
  spooled_files files(data_dir);
  (void)files.add("x");
  EXPECT_FALSE(fs::exists(data_dir + "/starts/old"));
  EXPECT_TRUE(fs::exists(data_dir + "/starts/new"));
}

TEST_F(spooled_files_test, without_a_directory_a_file_is_refused) {
  spooled_files nowhere("");
  EXPECT_THROW(nowhere.add("x"), ry::error);
  spooled_files missing("/proc/no");
  EXPECT_THROW(missing.add("x"), ry::error);
}

}  // namespace
}  // namespace runs

#include "core/auth/secret_box.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

using ry::auth::secret_box;
namespace fs = std::filesystem;

namespace {

class secret_box_files : public testing::Test {
 protected:
  secret_box_files() {
    std::string pattern = (fs::temp_directory_path() / "ry_secret_box_XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
  }
  ~secret_box_files() override { fs::remove_all(dir_); }
  void write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(dir_ / "secrets.key") << text;
    chmod((dir_ / "secrets.key").c_str(), mode);
  }
  fs::path dir_;
};

const std::string hex_key(64, 'a');
const std::string other_key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

}  // namespace

TEST(secret_box, opens_only_unchanged_text_in_the_same_context) {
  const secret_box box({hex_key}, {});
  const std::string plain("s3cret\0value", 12);
  const auto sealed = box.seal("mcp.header:1", plain);
  EXPECT_EQ(sealed.find("s3cret"), std::string::npos);
  EXPECT_EQ(box.open("mcp.header:1", sealed), plain);
  EXPECT_FALSE(box.open("mcp.header:2", sealed));
  EXPECT_FALSE(box.open("", sealed));
  EXPECT_NE(sealed, box.seal("mcp.header:1", plain));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    auto damaged = sealed;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(box.open("mcp.header:1", damaged)) << "byte " << i;
    EXPECT_FALSE(box.open("mcp.header:1", sealed.substr(0, i))) << "truncated at " << i;
  }
  EXPECT_FALSE(box.open("mcp.header:1", sealed + "x"));
  EXPECT_EQ(box.open("c", box.seal("c", "")), "");
}

TEST(secret_box, rotates_keys) {
  const secret_box old_box({hex_key}, {});
  const auto sealed = old_box.seal("c", "x");
  EXPECT_FALSE(old_box.is_stale(sealed));

  const secret_box both({other_key, hex_key}, {});
  EXPECT_EQ(both.open("c", sealed), "x");
  EXPECT_TRUE(both.is_stale(sealed));
  const auto anew = both.seal("c", "x");
  EXPECT_FALSE(both.is_stale(anew));
  EXPECT_FALSE(old_box.open("c", anew));

  const secret_box only_new({other_key}, {});
  EXPECT_FALSE(only_new.open("c", sealed));
  EXPECT_EQ(only_new.open("c", anew), "x");
}

TEST(secret_box, refuses_bad_keys_without_showing_them) {
  for (const auto& bad :
       std::vector<std::string>{"", "short-and-secret", "zz", std::string(63, 'a'), "\xc1" + other_key.substr(1),
                                other_key.substr(0, 43) + "\xbd", other_key + "=", " " + other_key}) {
    try {
      const secret_box box({bad}, {});
      FAIL() << bad;
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find("key 1 of the configuration"), std::string::npos);
      EXPECT_EQ(std::string(e.what()).find("short-and-secret"), std::string::npos);
    }
  }
}

TEST_F(secret_box_files, creates_its_key_file_once_with_a_private_mode) {
  std::string sealed;
  {
    const secret_box box({}, dir_);
    sealed = box.seal("c", "x");
  }
  struct stat st {};
  ASSERT_EQ(stat((dir_ / "secrets.key").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  const secret_box again({}, dir_);
  EXPECT_EQ(again.open("c", sealed), "x");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), fs::directory_iterator()), 1);
}

TEST_F(secret_box_files, two_processes_that_start_concurrently_share_one_key) {
  std::unique_ptr<secret_box> boxes[4];
  std::vector<std::thread> threads;
  for (auto& b : boxes) {
    threads.emplace_back([&] { b = std::make_unique<secret_box>(std::vector<std::string>{}, dir_); });
  }
  for (auto& t : threads) t.join();
  const auto sealed = boxes[0]->seal("c", "x");
  for (auto& b : boxes) EXPECT_EQ(b->open("c", sealed), "x");
}

TEST_F(secret_box_files, rejects_a_file_that_other_users_can_read) {
  write(other_key + "\n", 0644);
  try {
    const secret_box box({}, dir_);
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("chmod 600"), std::string::npos);
  }
}

TEST_F(secret_box_files, reads_several_lines_as_a_rotation) {
  write("# newest first\n  " + other_key + "\r\n\n" + hex_key + "\n");
  const secret_box box({}, dir_);
  EXPECT_EQ(box.open("c", secret_box({hex_key}, {}).seal("c", "x")), "x");
  EXPECT_EQ(secret_box({other_key}, {}).open("c", box.seal("c", "y")), "y");

  write("\n# nothing\n");
  EXPECT_THROW(secret_box({}, dir_), std::runtime_error);
  write("nonsense\n");
  EXPECT_THROW(secret_box({}, dir_), std::runtime_error);
}

#include "workspace.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using bubblewrap::file_content;
using bubblewrap::file_error;
using bubblewrap::workspaces;

namespace {

const std::string project = "0192f0c1-2d3e-7f00-8a1b-0123456789ab";

class workspace_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-workspace-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    fs::create_directory(root / "all");
    files = std::make_unique<workspaces>((root / "all").string());
    ASSERT_FALSE(files->ensure(project, std::nullopt));
    home = root / "all" / project;
    std::ofstream(root / "secret.txt") << "secret";
  }
  void TearDown() override { fs::remove_all(root); }

  ry_status read_status(std::string_view path) {
    file_content content;
    return files->read(project, path, 0, 100, content).status;
  }

  fs::path root, home;
  std::unique_ptr<workspaces> files;
};

TEST_F(workspace_test, writes_and_reads_files_and_creates_parents) {
  ASSERT_FALSE(files->write(project, "a/b/c.txt", "hello", std::nullopt));
  file_content content;
  ASSERT_FALSE(files->read(project, "a/b/c.txt", 1, 3, content));
  EXPECT_EQ(content.bytes, "ell");
  EXPECT_EQ(content.total_size, 5u);
  ASSERT_FALSE(files->read(project, "a/../a/b/c.txt", 0, 100, content));
  EXPECT_EQ(content.bytes, "hello");
  ASSERT_FALSE(files->read(project, "a/b/c.txt", 77, 3, content));
  EXPECT_EQ(content.bytes, "");
}

TEST_F(workspace_test, replaces_files_completely_and_keeps_their_mode) {
  ASSERT_FALSE(files->write(project, "run.sh", "one, which is longer", std::nullopt));
  fs::permissions(home / "run.sh", fs::perms::owner_all);
  ASSERT_FALSE(files->write(project, "run.sh", "two", std::nullopt));
  file_content content;
  ASSERT_FALSE(files->read(project, "run.sh", 0, 100, content));
  EXPECT_EQ(content.bytes, "two");
  EXPECT_EQ(fs::status(home / "run.sh").permissions() & fs::perms::mask, fs::perms::owner_all);
  EXPECT_EQ(std::distance(fs::directory_iterator(home), fs::directory_iterator()), 1);
}

TEST_F(workspace_test, an_open_descriptor_keeps_the_old_content) {
  ASSERT_FALSE(files->write(project, "data.bin", "before", std::nullopt));
  bubblewrap::unique_fd fd;
  std::uint64_t size = 0;
  ASSERT_FALSE(files->open(project, "data.bin", fd, size));
  EXPECT_EQ(size, 6u);
  ASSERT_FALSE(files->write(project, "data.bin", "after it was replaced", std::nullopt));
  char text[16]{};
  EXPECT_EQ(::read(fd.get(), text, sizeof text), 6);
  EXPECT_STREQ(text, "before");
  EXPECT_EQ(files->open(project, "missing", fd, size).status, RY_NOT_FOUND);
  EXPECT_EQ(files->open(project, "../../secret.txt", fd, size).status, RY_PERMISSION_DENIED);
}

TEST_F(workspace_test, paths_cannot_leave_the_workspace) {
  fs::create_symlink("../../secret.txt", home / "relative");
  fs::create_symlink(root / "secret.txt", home / "absolute");
  fs::create_symlink("../..", home / "up");
  fs::create_symlink("/proc/self/root", home / "magic");
  EXPECT_EQ(read_status("../../secret.txt"), RY_PERMISSION_DENIED);
  EXPECT_EQ(read_status((root / "secret.txt").string()), RY_PERMISSION_DENIED);
  EXPECT_EQ(read_status("relative"), RY_PERMISSION_DENIED);
  EXPECT_EQ(read_status("absolute"), RY_PERMISSION_DENIED);
  EXPECT_EQ(read_status("up/secret.txt"), RY_PERMISSION_DENIED);
  EXPECT_EQ(read_status("magic/etc/passwd"), RY_PERMISSION_DENIED);
  EXPECT_EQ(files->write(project, "up/new.txt", "x", std::nullopt).status, RY_PERMISSION_DENIED);
  EXPECT_EQ(files->write(project, "../new.txt", "x", std::nullopt).status, RY_PERMISSION_DENIED);
  EXPECT_FALSE(fs::exists(root / "new.txt"));
  std::string json;
  EXPECT_EQ(files->list(project, "up", json).status, RY_PERMISSION_DENIED);
  EXPECT_EQ(files->list(project, "..", json).status, RY_PERMISSION_DENIED);
}

TEST_F(workspace_test, writing_to_a_link_replaces_the_link) {
  fs::create_symlink(root / "secret.txt", home / "link");
  ASSERT_FALSE(files->write(project, "link", "mine", std::nullopt));
  std::ifstream secret(root / "secret.txt");
  std::string text;
  secret >> text;
  EXPECT_EQ(text, "secret");
  EXPECT_FALSE(fs::is_symlink(home / "link"));
}

TEST_F(workspace_test, rejects_everything_except_regular_files) {
  ASSERT_EQ(::mkfifo((home / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_status("pipe"), RY_FAILED_PRECONDITION);
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  const auto name = (home / "socket").string();
  ASSERT_LT(name.size(), sizeof at.sun_path);
  name.copy(at.sun_path, name.size());
  ASSERT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  EXPECT_EQ(read_status("socket"), RY_FAILED_PRECONDITION);
  ::close(listening);
  EXPECT_EQ(read_status(""), RY_FAILED_PRECONDITION);
  fs::create_directory(home / "dir");
  EXPECT_EQ(read_status("dir"), RY_FAILED_PRECONDITION);
  EXPECT_EQ(files->write(project, "dir", "x", std::nullopt).status, RY_FAILED_PRECONDITION);
  EXPECT_EQ(read_status("none"), RY_NOT_FOUND);
  EXPECT_EQ(read_status(std::string_view("a\0b", 3)), RY_INVALID_ARGUMENT);
  for (std::string_view bad : {"", ".", "..", "a/", "a/.."})
    EXPECT_EQ(files->write(project, bad, "x", std::nullopt).status, RY_INVALID_ARGUMENT) << bad;
}

TEST_F(workspace_test, import_moves_the_file_and_never_replaces_another) {
  std::ofstream(root / "spool1") << "first";
  std::ofstream(root / "spool2") << "second";
  ASSERT_FALSE(files->import(project, "uploads/a.txt", (root / "spool1").string(), std::nullopt));
  EXPECT_FALSE(fs::exists(root / "spool1"));
  EXPECT_EQ(files->import(project, "uploads/a.txt", (root / "spool2").string(), std::nullopt).status,
            RY_ALREADY_EXISTS);
  EXPECT_TRUE(fs::exists(root / "spool2"));
  file_content content;
  ASSERT_FALSE(files->read(project, "uploads/a.txt", 0, 100, content));
  EXPECT_EQ(content.bytes, "first");
}

TEST_F(workspace_test, import_across_devices_copies) {
  if (!fs::exists("/dev/shm")) GTEST_SKIP() << "there is no second file system";
  const std::string spool = "/dev/shm/ry-workspace-test-" + std::to_string(::getpid());
  std::ofstream(spool) << "other device";
  ASSERT_FALSE(files->import(project, "imported.txt", spool, std::nullopt));
  EXPECT_FALSE(fs::exists(spool));
  std::ofstream(spool) << "again";
  EXPECT_EQ(files->import(project, "imported.txt", spool, std::nullopt).status, RY_ALREADY_EXISTS);
  fs::remove(spool);
  EXPECT_EQ(std::distance(fs::directory_iterator(home), fs::directory_iterator()), 1);
}

TEST_F(workspace_test, lists_are_sorted_and_escaped) {
  ASSERT_FALSE(files->write(project, "b.txt", "12345", std::nullopt));
  ASSERT_FALSE(files->write(project, "a\"\n\xff.txt", "", std::nullopt));
  fs::create_directory(home / "c");
  fs::create_symlink("nowhere", home / "d");
  std::string json;
  ASSERT_FALSE(files->list(project, "", json));
  EXPECT_EQ(json.find("[{\"name\":\"a\\\"\\n\xEF\xBF\xBD.txt\",\"kind\":\"file\",\"size\":0,"), 0u) << json;
  EXPECT_NE(json.find("{\"name\":\"b.txt\",\"kind\":\"file\",\"size\":5,"), std::string::npos);
  EXPECT_NE(json.find("{\"name\":\"c\",\"kind\":\"dir\""), std::string::npos);
  EXPECT_NE(json.find("{\"name\":\"d\",\"kind\":\"link\""), std::string::npos);
  EXPECT_EQ(files->list(project, "b.txt", json).status, RY_FAILED_PRECONDITION);
}

TEST_F(workspace_test, only_uuids_are_valid_workspace_names) {
  for (std::string_view bad :
       {"", "..", "../all", "0192F0C1-2D3E-7F00-8A1B-0123456789AB", "0192f0c1-2d3e-7f00-8a1b-0123456789a/"}) {
    EXPECT_EQ(files->ensure(bad, std::nullopt).status, RY_INVALID_ARGUMENT) << bad;
    EXPECT_EQ(files->path_of(bad), "") << bad;
  }
}

TEST_F(workspace_test, special_files_are_rejected_with_a_specific_status) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (home / "socket").string();
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
  ASSERT_EQ(::mkfifo((home / "pipe").c_str(), 0600), 0);
  fs::create_symlink("socket", home / "link to socket");
  fs::create_symlink("pipe", home / "link to pipe");
  fs::create_symlink("/dev/zero", home / "device");
  fs::create_symlink("loop", home / "loop");
  for (const char* name : {"socket", "pipe", "link to socket", "link to pipe"}) {
    EXPECT_EQ(read_status(name), RY_FAILED_PRECONDITION) << name;
    EXPECT_EQ(read_status(name + std::string("/below")), RY_NOT_FOUND) << name;
  }
  EXPECT_EQ(read_status("device"), RY_PERMISSION_DENIED);
  EXPECT_EQ(read_status("loop"), RY_PERMISSION_DENIED);
  if (::geteuid() == 0 && ::mknod((home / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0) {
    EXPECT_EQ(read_status("null"), RY_FAILED_PRECONDITION);
  }
  std::string json;
  ASSERT_FALSE(files->list(project, "", json));
  EXPECT_NE(json.find("{\"name\":\"socket\",\"kind\":\"other\""), std::string::npos) << json;
  // A write replaces a special file like any other file.
  ASSERT_FALSE(files->write(project, "socket", "text", std::nullopt));
  EXPECT_EQ(read_status("socket"), RY_OK);
}

}  // namespace

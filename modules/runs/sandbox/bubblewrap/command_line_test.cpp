// The vector is tried for real: what matters is what the sandboxed command can and cannot do.
#include "command_line.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace bubblewrap;

namespace {

struct outcome {
  int exit_code = -1;
  std::string output;
};

outcome execute(const std::vector<std::string>& command) {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe_ends[1], 1);
    ::dup2(pipe_ends[1], 2);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    std::vector<char*> argv, env;
    std::vector<std::string> words = command, variables = command_environment();
    for (std::string& word : words) argv.push_back(word.data());
    for (std::string& variable : variables) env.push_back(variable.data());
    argv.push_back(nullptr);
    env.push_back(nullptr);
    ::execve(argv[0], argv.data(), env.data());
    ::_exit(127);
  }
  ::close(pipe_ends[1]);
  outcome out;
  char buffer[4096];
  for (ssize_t n; (n = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
    out.output.append(buffer, static_cast<std::size_t>(n));
  ::close(pipe_ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return out;
}

class command_line_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-bwrap-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    fs::create_directory(root / "files");
    std::ofstream(root / "passwd") << passwd_text(61184, 4);
    std::ofstream(root / "group") << group_text(61184, 4);
    spec.mode = ::geteuid() == 0 ? confinement::drop_root : confinement::user_namespace;
    spec.bwrap_path = "/usr/bin/bwrap";
    spec.workspace = (root / "files").string();
    spec.etc_directory = root.string();
    spec.uid = 61185;
    spec.limit = {2ull << 30, 64, 1 << 20, 256, 16 << 20};
    if (::geteuid() == 0) {
      ASSERT_EQ(::chown(spec.workspace.c_str(), spec.uid, spec.uid), 0);
    }
    if (execute(shell("true")).exit_code != 0) GTEST_SKIP() << "bubblewrap does not work here";
  }
  void TearDown() override { fs::remove_all(root); }

  std::vector<std::string> shell(std::string_view script) {
    spec.argv = {"sh", "-c", script};
    return build_command_line(spec);
  }

  fs::path root;
  command_spec spec;
};

TEST_F(command_line_test, the_workspace_is_writable_and_the_home) {
  const outcome out = execute(shell("pwd; echo $HOME; id -un; echo text > made.txt; cat made.txt"));
  EXPECT_EQ(out.exit_code, 0);
  EXPECT_EQ(out.output, "/workspace\n/workspace\nagent\ntext\n");
  EXPECT_TRUE(fs::exists(root / "files" / "made.txt"));
}

TEST_F(command_line_test, nothing_else_is_writable_but_tmp) {
  const outcome out = execute(shell(
      "for d in / /usr /usr/bin /etc /proc/sys/kernel /dev /bin; do (echo x > $d/ry-probe) 2>/dev/null "
      "&& echo wrote $d; done; (echo x > /proc/sys/kernel/core_pattern) 2>/dev/null && echo wrote sys;"
      "echo x > /tmp/ok && echo tmp; id -u; grep CapEff /proc/self/status"));
  const std::string& text = out.output;
  EXPECT_EQ(text.find("wrote"), std::string::npos) << text;
  EXPECT_NE(text.find("tmp\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("\n0\n"), std::string::npos) << "the command runs as uid 0: " << text;
  EXPECT_NE(text.find("CapEff:\t0000000000000000"), std::string::npos) << text;
}

TEST_F(command_line_test, the_host_is_not_visible) {
  const outcome out = execute(shell("ls /home /root /var /etc/shadow /work 2>/dev/null; ls /proc | "
                                    "grep -c '^[0-9]*$'; cat /sys/class/net/*/address 2>/dev/null"));
  EXPECT_LT(std::stoi(out.output), 8) << out.output;
}

TEST_F(command_line_test, there_is_no_network_unless_asked) {
  const char* script = "grep -c : /proc/net/dev";
  EXPECT_EQ(execute(shell(script)).output, "1\n") << "only lo";
  EXPECT_EQ(execute(shell("cat /etc/resolv.conf")).exit_code, 1);
  spec.network = network_access::host;
  const std::vector<std::string> words = shell(script);
  EXPECT_EQ(std::count(words.begin(), words.end(), "--unshare-net"), 0);
}

TEST_F(command_line_test, limits_hold) {
  EXPECT_NE(execute(shell("head -c 2000000 /dev/zero > big")).exit_code, 0);
  EXPECT_LE(fs::file_size(root / "files" / "big"), 1u << 20);
  const outcome forks =
      execute(shell("for i in $(seq 1 200); do sleep 5 & done"));
  EXPECT_NE(forks.output.find("annot fork"), std::string::npos) << forks.output;
  spec.limit.memory_bytes = 64 << 20;
  EXPECT_NE(execute(shell("head -c 200000000 /dev/zero | tail")).exit_code, 0);
}

TEST_F(command_line_test, the_exit_code_is_the_commands) {
  EXPECT_EQ(execute(shell("exit 7")).exit_code, 7);
  spec.argv = {"no-such-program"};
  EXPECT_EQ(execute(build_command_line(spec)).exit_code, 127);
}

TEST(project_uid_test, is_stable_and_in_range) {
  EXPECT_EQ(project_uid("0192f0c1-2d3e-7f00-8a1b-0123456789ab", 61184, 4096),
            project_uid("0192f0c1-2d3e-7f00-8a1b-0123456789ab", 61184, 4096));
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t uid = project_uid(std::to_string(i), 61184, 4096);
    EXPECT_GE(uid, 61184u);
    EXPECT_LT(uid, 61184u + 4096u);
  }
  EXPECT_EQ(project_uid("x", 5, 0), 5u);
}

TEST_F(command_line_test, without_a_project_the_workspace_is_empty_and_goes_with_the_command) {
  spec.workspace.clear();
  const auto out = execute(shell("ls -A; echo x > y && cat y; echo $HOME"));
  EXPECT_EQ(out.output, "x\n/workspace\n");
  EXPECT_EQ(execute(shell("ls -A")).output, "");
}

TEST_F(command_line_test, places_of_the_host_appear_as_far_as_they_are_given) {
  const std::string readable = (root / "readable").string(), writable = (root / "writable").string();
  for (const auto& dir : {readable, writable}) {
    fs::create_directory(dir);
    fs::permissions(dir, fs::perms::all);
  }
  fs::permissions(root, fs::perms::owner_all | fs::perms::others_exec | fs::perms::others_read);
  std::ofstream(readable + "/a") << "there";
  spec.places = {{readable, false}, {writable, true}, {"/no/such/place", false}};
  const auto script = "cat " + readable + "/a; echo x > " + readable + "/b || echo no; echo kept > " + writable + "/c";
  const auto out = execute(shell(script));
  EXPECT_NE(out.output.find("there"), std::string::npos) << out.output;
  EXPECT_NE(out.output.find("no"), std::string::npos) << out.output;
  EXPECT_FALSE(fs::exists(readable + "/b"));
  EXPECT_TRUE(fs::exists(writable + "/c"));
}

TEST_F(command_line_test, memory_may_be_counted_as_written_to) {
  spec.limit.memory_bytes = 0;
  spec.limit.data_bytes = 64 << 20;
  EXPECT_EQ(execute(shell("ulimit -d; ulimit -v")).output, "65536\nunlimited\n");
}

}  // namespace

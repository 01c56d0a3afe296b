// These tests execute the command lines and check what a sandboxed command can do.
#include "command_line.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>

#include "start_request.hpp"
#include "system_calls.hpp"
#include "watchdog.hpp"
#include "workspace.hpp"

namespace fs = std::filesystem;
using namespace bubblewrap;

namespace {

struct outcome {
  int exit_code = -1;
  std::string output;
};

outcome execute_in(const std::string& directory, const std::vector<std::string>& command, const std::string& input) {
  int pipe_ends[2], input_ends[2];
  if (::pipe(pipe_ends) != 0 || ::pipe(input_ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(input_ends[0], 0);
    ::close(input_ends[0]);
    ::close(input_ends[1]);
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
    if (::chdir(directory.c_str()) != 0) ::_exit(126);
    ::execve(argv[0], argv.data(), env.data());
    ::_exit(127);
  }
  ::close(pipe_ends[1]);
  ::close(input_ends[0]);
  // The input is smaller than the capacity of a pipe.
  EXPECT_EQ(::write(input_ends[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  ::close(input_ends[1]);
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
    // A separate uid for this test, because processes of concurrent tests would count towards the limit.
    const auto uid = 61184 + static_cast<std::uint32_t>(::getpid()) % 4096;
    std::ofstream(root / "passwd") << passwd_text(uid, 1);
    std::ofstream(root / "group") << group_text(uid, 1);
    std::ofstream(root / "system_calls") << system_call_filter();
    spec.mode = ::geteuid() == 0 ? confinement::drop_root : confinement::user_namespace;
    spec.bwrap_path = "/usr/bin/bwrap";
    spec.exec_path = fs::read_symlink("/proc/self/exe").replace_filename("runyard-sandbox-exec");
    const workspaces all(root.string());
    const bool is_root = spec.mode == confinement::drop_root;
    const file_error made = all.ensure(project, is_root ? std::optional<uid_t>(uid) : std::nullopt);
    ASSERT_FALSE(made) << made.message;
    spec.workspace = all.path_of(project);
    files = spec.workspace;
    spec.etc_directory = root.string();
    spec.uid = uid;
    spec.limit = {2ull << 30, 64, 1 << 20, 256, 16 << 20};
    if (::access(spec.bwrap_path.c_str(), X_OK) != 0) GTEST_SKIP() << "bubblewrap is not installed";
    const outcome probe = execute(shell("true"));
    ASSERT_EQ(probe.exit_code, 0) << probe.output;
  }
  void TearDown() override { fs::remove_all(root); }

  outcome execute(const std::vector<std::string>& command, const std::string& input = {}) {
    return execute_in(working_directory(spec), command, input);
  }

  // Executes a script in a warm sandbox, by a start request that is followed by the input `rest`.
  outcome execute_warm(std::string_view script, std::uint32_t uid, const std::string& rest = {}) {
    spec.argv.clear();
    std::vector<std::string> env = command_environment();
    env.push_back("ADDED=one word\nand a line");
    const std::vector<std::string_view> argv = {"sh", "-c", script, "name", "", "a b\nc"};
    return execute(build_command_line(spec), encode_start_request(uid, env, argv).value() + rest);
  }

  std::vector<std::string> shell(std::string_view script) {
    spec.argv = {"sh", "-c", script};
    return build_command_line(spec);
  }

  // The result of a system call in a sandboxed command: "ok", or the name of the error.
  std::string result_of_call(long call, const std::string& arguments) {
    const std::string script = "perl -MErrno -e 'my $r = syscall(" + std::to_string(call) + ", " + arguments +
                               "); print $r >= 0 ? q(ok) : (grep { $!{$_} } keys %!)[0]'";
    return execute(shell(script)).output;
  }

  static constexpr std::string_view project = "0192f0c1-2d3e-7f00-8a1b-0123456789ab";
  fs::path root, files;
  command_spec spec;
};

TEST_F(command_line_test, the_workspace_is_writable_and_is_the_home_directory) {
  const outcome out = execute(shell("pwd; echo $HOME; id -un; echo text > made.txt; cat made.txt"));
  EXPECT_EQ(out.exit_code, 0);
  EXPECT_EQ(out.output, "/workspace\n/workspace\nagent\ntext\n");
  EXPECT_TRUE(fs::exists(files / "made.txt"));
}

TEST_F(command_line_test, only_the_workspace_and_tmp_are_writable) {
  const outcome out =
      execute(shell("for d in / /usr /usr/bin /etc /proc/sys/kernel /dev /bin; do (echo x > $d/ry-probe) 2>/dev/null "
                    "&& echo wrote $d; done; (echo x > /proc/sys/kernel/core_pattern) 2>/dev/null && echo wrote sys;"
                    "echo x > /tmp/ok && echo tmp; id -u; grep CapEff /proc/self/status"));
  const std::string& text = out.output;
  EXPECT_EQ(text.find("wrote"), std::string::npos) << text;
  EXPECT_NE(text.find("tmp\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("\n0\n"), std::string::npos) << "the command runs as uid 0: " << text;
  EXPECT_NE(text.find("CapEff:\t0000000000000000"), std::string::npos) << text;
}

TEST_F(command_line_test, commands_have_no_capabilities_and_cannot_gain_any) {
  const std::string status = execute(shell("cat /proc/self/status")).output;
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
    EXPECT_NE(status.find(std::string(set) + ":\t0000000000000000\n"), std::string::npos) << status;
  EXPECT_NE(status.find("NoNewPrivs:\t1\n"), std::string::npos) << status;
  EXPECT_NE(status.find("Seccomp:\t2\n"), std::string::npos) << status;
  if (spec.mode != confinement::drop_root) return;
  EXPECT_NE(status.find("Groups:\t \n"), std::string::npos) << status;
  const std::string id = "\t" + std::to_string(spec.uid);
  for (const char* name : {"Uid:", "Gid:"})
    EXPECT_NE(status.find(name + id + id + id + id + "\n"), std::string::npos) << status;
}

TEST_F(command_line_test, the_host_is_not_visible) {
  const outcome out =
      execute(shell("ls /home /root /var /etc/shadow /work 2>/dev/null; ls /proc | "
                    "grep -c '^[0-9]*$'; cat /sys/class/net/*/address 2>/dev/null"));
  EXPECT_LT(std::stoi(out.output), 8) << out.output;
}

TEST_F(command_line_test, there_is_no_network_unless_requested) {
  const char* script = "grep -c : /proc/net/dev";
  EXPECT_EQ(execute(shell(script)).output, "1\n") << "only lo";
  EXPECT_EQ(execute(shell("cat /etc/resolv.conf")).exit_code, 1);
  spec.network = network_access::host;
  const std::vector<std::string> words = shell(script);
  EXPECT_EQ(std::count(words.begin(), words.end(), "--unshare-net"), 0);
}

TEST_F(command_line_test, limits_are_enforced) {
  EXPECT_NE(execute(shell("head -c 2000000 /dev/zero > big")).exit_code, 0);
  EXPECT_LE(fs::file_size(files / "big"), 1u << 20);
  const outcome forks = execute(shell("for i in $(seq 1 200); do sleep 5 & done"));
  EXPECT_NE(forks.output.find("annot fork"), std::string::npos) << forks.output;
  spec.limit.memory_bytes = 64 << 20;
  EXPECT_NE(execute(shell("head -c 200000000 /dev/zero | tail")).exit_code, 0);
}

TEST_F(command_line_test, the_server_has_priority_over_commands) {
  spec.nice = 19;
  EXPECT_EQ(execute(shell("nice; ionice; nice -n -5 true 2>/dev/null; nice; cat /proc/self/oom_score_adj")).output,
            "19\nbest-effort: prio 7\n19\n1000\n");
}

// The watchdog adds up the memory of processes, so memory that does not belong to a process would have no limit.
TEST_F(command_line_test, memory_outside_of_processes_is_refused_or_bounded) {
  EXPECT_EQ(result_of_call(SYS_memfd_create, "my $name = q(a), 0"), "ENOSYS");
  const std::string make = std::to_string(IPC_CREAT | 0600);
  EXPECT_EQ(result_of_call(SYS_shmget, "0, 4096, " + make), "ok") << "PostgreSQL needs a small segment";
  EXPECT_EQ(result_of_call(SYS_shmget, "0, 1048576, " + make), "EINVAL");
  EXPECT_EQ(result_of_call(SYS_shmget, "0, 1 << 33, " + make), "EINVAL");
  EXPECT_EQ(execute(shell("unshare -Urm mount -t tmpfs none /tmp && echo mounted")).output.find("mounted"),
            std::string::npos);
}

TEST_F(command_line_test, empty_files_in_memory_file_systems_count_as_memory) {
  const auto words = shell(
      "fill() { perl -e 'for (1 .. 30000) { open my $f, q(>), $ARGV[0] . $_ or die }' $1/; }; "
      "fill /tmp; fill /dev/shm; touch done; sleep 60");
  const pid_t leader = ::fork();
  if (leader == 0) {
    std::vector<char*> argv;
    std::vector<std::string> copy = words;
    for (std::string& word : copy) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (::chdir(working_directory(spec).c_str()) != 0) ::_exit(126);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  for (int i = 0; i < 3000 && !fs::exists(files / "done"); ++i) ::usleep(10'000);
  EXPECT_TRUE(fs::exists(files / "done"));
  EXPECT_GT(total_memory(leader, 0), 60'000u * 1024);
  ::kill(leader, SIGKILL);
  ::waitpid(leader, nullptr, 0);
}

TEST_F(command_line_test, namespaces_keys_and_unusual_interfaces_are_refused_and_programs_still_work) {
  const auto flags = [](long bits) { return std::to_string(bits); };
  EXPECT_EQ(result_of_call(SYS_unshare, flags(CLONE_NEWUSER)), "EPERM");
  EXPECT_EQ(result_of_call(SYS_unshare, flags(CLONE_FILES)), "ok");
  EXPECT_EQ(result_of_call(SYS_clone, flags(CLONE_NEWUSER | SIGCHLD) + ", 0, 0, 0, 0"), "EPERM");
  EXPECT_EQ(result_of_call(SYS_clone3, "0, 0"), "ENOSYS");
  EXPECT_EQ(result_of_call(SYS_keyctl, "0, -4, 0"), "EPERM");
  EXPECT_EQ(result_of_call(SYS_io_uring_setup, "1, 0"), "ENOSYS");
  EXPECT_EQ(result_of_call(SYS_bpf, "0, 0, 0"), "EPERM");
  EXPECT_EQ(result_of_call(SYS_perf_event_open, "0, 0, 0, 0, 0"), "EPERM");
  for (const long flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET}) {
    EXPECT_EQ(result_of_call(SYS_unshare, flags(flag)), "EPERM") << flag;
    EXPECT_EQ(result_of_call(SYS_unshare, flags(flag | CLONE_FS)), "EPERM") << flag;
    EXPECT_EQ(result_of_call(SYS_clone, flags(flag | SIGCHLD) + ", 0, 0, 0, 0"), "EPERM") << flag;
  }
  EXPECT_EQ(result_of_call(SYS_unshare, "0x80"), "EPERM");
  // Processes and threads.
  EXPECT_EQ(execute(shell("seq 300000 | sort -n --parallel=4 | tail -n 1")).output, "300000\n");
}

TEST_F(command_line_test, no_argument_reveals_the_data_directory) {
  const outcome out = execute(shell("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ; ls -l /proc/self/fd"));
  EXPECT_NE(out.output.find("/.sandbox-exec"), std::string::npos) << "the arguments could not be read";
  EXPECT_EQ(out.output.find("ry-bwrap-"), std::string::npos) << out.output;
  EXPECT_EQ(out.output.find(project), std::string::npos) << out.output;
  spec.workspace.clear();
  EXPECT_EQ(execute(shell("cat /proc/1/cmdline")).output.find("ry-bwrap-"), std::string::npos);
}

TEST_F(command_line_test, the_command_does_not_run_as_root_of_the_host) {
  const outcome out = execute(shell("touch made"));
  struct stat made {};
  ASSERT_EQ(::stat((files / "made").c_str(), &made), 0) << out.output;
  EXPECT_NE(made.st_uid, 0u) << "the command runs as root of the host";
  EXPECT_EQ(made.st_uid, spec.mode == confinement::drop_root ? spec.uid : ::geteuid());
  EXPECT_EQ(fs::status(files).permissions(), fs::perms::owner_all);
}

TEST_F(command_line_test, access_to_other_processes_is_refused) {
  EXPECT_EQ(result_of_call(SYS_ptrace, "16, getppid(), 0, 0"), "EPERM");
  EXPECT_EQ(result_of_call(SYS_ptrace, "0, 0, 0, 0"), "EPERM");
  EXPECT_EQ(result_of_call(SYS_process_vm_readv, "$$, 0, 0, 0, 0, 0"), "EPERM");
  EXPECT_EQ(result_of_call(SYS_process_vm_writev, "$$, 0, 0, 0, 0, 0"), "EPERM");
  EXPECT_EQ(result_of_call(SYS_kcmp, "$$, $$, 0, 0, 0"), "EPERM");
  EXPECT_EQ(result_of_call(438, "0, 0, 0"), "EPERM") << "pidfd_getfd";
}

TEST_F(command_line_test, system_v_semaphores_and_message_queues_are_unavailable) {
  const std::string make = std::to_string(IPC_CREAT | 0600);
  EXPECT_EQ(result_of_call(SYS_semget, "0, 32000, " + make), "ENOSYS");
  EXPECT_EQ(result_of_call(SYS_semget, "0, 1, " + make), "ENOSYS");
  EXPECT_EQ(result_of_call(SYS_msgget, "0, " + make), "ENOSYS");
}

TEST_F(command_line_test, only_four_socket_families_are_allowed) {
  for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}) {
    const int type = family == AF_NETLINK ? SOCK_RAW : SOCK_STREAM;
    EXPECT_EQ(result_of_call(SYS_socket, std::to_string(family) + ", " + std::to_string(type) + ", 0"), "ok") << family;
  }
  EXPECT_EQ(result_of_call(SYS_socketpair, "1, 1, 0, my $pair = q(12345678)"), "ok");
  std::string all = "-1, 17 .. 64, 1 << 33, (1 << 32) + 40, 40 - (1 << 32)";
  for (int family = 0; family < AF_NETLINK; ++family)
    if (family != AF_UNIX && family != AF_INET && family != AF_INET6) all += ", " + std::to_string(family);
  for (const long call : {SYS_socket, SYS_socketpair}) {
    const std::string script = "perl -MErrno -e 'for my $f (" + all +
                               ") { for my $t (1, 2, 3, 5) { my $p = q(12345678); print qq($f:$t ) if syscall(" +
                               std::to_string(call) + ", $f, $t, 0, $p) >= 0 or !$!{EAFNOSUPPORT} }}'";
    EXPECT_EQ(execute(shell(script)).output, "") << call;
  }
}

// A command cannot write to the memory of the init, and the init has the same limits as the command.
TEST_F(command_line_test, the_init_cannot_be_used_to_bypass_the_limits) {
  const outcome out = execute(shell(
      "head -c 1 /proc/1/mem; (echo x >> /proc/1/mem) 2>&1; ls /proc/1/fd/ /proc/1/root/ 2>&1; cat /proc/1/environ 2>&1;"
      "cat /proc/1/limits; grep -E '^(Cap|NoNew|Seccomp:)' /proc/1/status; tr '\\0' ' ' < /proc/1/cmdline; kill -9 1; kill -STOP 1; echo alive"));
  const std::string& text = out.output;
  std::size_t refused = 0;
  for (std::size_t at = 0; (at = text.find("ermission denied", at)) != std::string::npos; ++at) ++refused;
  EXPECT_GE(refused, 5u) << text;
  const auto has = [&](const std::string& line) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  };
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) has(std::string(set) + ":\t0000000000000000\n");
  has("NoNewPrivs:\t1\n");
  has("Seccomp:\t2\n");
  has("Max processes             64  ");
  has("Max open files            256 ");
  has("Max file size             1048576 ");
  has("Max address space         2147483648 ");
  has("/.sandbox-exec enter ");
  EXPECT_TRUE(text.ends_with("alive\n")) << text;
}

TEST_F(command_line_test, orphaned_processes_are_reaped) {
  const outcome out = execute(
      shell("for i in 1 2 3 4 5 6 7 8; do (sleep 0.01 &) ; done; sleep 1; cat /proc/[0-9]*/stat | grep -c ') Z '"));
  EXPECT_EQ(out.output, "0\n");
}

TEST_F(command_line_test, the_exit_code_reports_a_signal) {
  EXPECT_EQ(execute(shell("kill -TERM $$")).exit_code, 128 + SIGTERM);
  EXPECT_EQ(execute(shell("exec >&- 2>&- <&-; exit 5")).exit_code, 5);
}

TEST_F(command_line_test, killing_a_sandbox_kills_all_its_processes) {
  const std::vector<std::string> words = shell("setsid sleep 60 & sleep 60");
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::string> timed = {"/usr/bin/timeout", "-s", "KILL", "1"};
  timed.insert(timed.end(), words.begin(), words.end());
  execute(timed);  // returns when all processes have closed the pipe
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

TEST_F(command_line_test, the_environment_of_the_server_is_not_inherited) {
  const outcome out = execute(shell("env | cut -d= -f1 | sort | tr '\\n' ' '"));
  EXPECT_EQ(out.output, "HOME LANG LOGNAME PATH PWD SHELL TERM TMPDIR USER ");
  EXPECT_EQ(execute(shell("echo $PWD")).output, "/workspace\n");
}

TEST_F(command_line_test, the_exit_code_of_the_command_is_returned) {
  EXPECT_EQ(execute(shell("exit 7")).exit_code, 7);
  spec.argv = {"no-such-program"};
  EXPECT_EQ(execute(build_command_line(spec)).exit_code, 127);
}

// A program cannot distinguish a warm sandbox from one that was started for it.
TEST_F(command_line_test, a_warm_sandbox_is_identical_to_a_cold_one) {
  spec.workspace.clear();
  spec.limit.data_bytes = 64 << 20;
  const char* script =
      "unset ADDED; env | sort; pwd; id; ulimit -a; grep -E '^(Cap|NoNew|Seccomp|Groups|Uid|Gid)' /proc/self/status;"
      "ls -l /proc/self/fd | grep -c pipe; ls -A / /workspace /tmp; set -- /proc/[0-9]*; echo $#; mount | sort";
  const outcome cold = execute(shell(script)), warm = execute_warm(script, spec.uid);
  EXPECT_EQ(warm.exit_code, 0);
  EXPECT_EQ(warm.output, cold.output);
}

TEST_F(command_line_test, a_warm_sandbox_passes_arguments_and_input_unchanged) {
  const outcome out = execute_warm("printf '%s|' \"$ADDED\" \"$0\" \"$@\"; cat; exit 7", spec.uid, "and the input");
  EXPECT_EQ(out.output, "one word\nand a line|name||a b\nc|and the input");
  EXPECT_EQ(out.exit_code, 7);
}

TEST_F(command_line_test, a_warm_sandbox_starts_nothing_without_a_complete_request) {
  spec.argv.clear();
  const auto words = build_command_line(spec);
  const outcome unused = execute(words);
  EXPECT_EQ(unused.exit_code, 0) << unused.output;
  EXPECT_EQ(unused.output, "");
  const std::vector<std::string_view> argv = {"echo", "started"};
  const std::string complete = encode_start_request(spec.uid, {}, argv).value();
  EXPECT_EQ(execute(words, complete).output, "started\n");
  for (const std::string& bad : {complete.substr(0, complete.size() - 1), complete.substr(0, 5),
                                 std::string(64, '\xff'), encode_start_request(spec.uid, {}, {}).value()}) {
    const outcome out = execute(words, bad);
    EXPECT_EQ(out.exit_code, 125) << out.output;
    EXPECT_EQ(out.output.find("started"), std::string::npos);
  }
  if (spec.mode == confinement::drop_root) {
    EXPECT_EQ(execute(words, encode_start_request(0, {}, argv).value()).exit_code, 125) << "ran as root";
  }
  const std::string long_word(max_start_request_text, 'x');
  EXPECT_FALSE(encode_start_request(spec.uid, {}, std::vector<std::string_view>{long_word}));
}

TEST_F(command_line_test, root_and_invalid_user_ids_are_rejected) {
  if (spec.mode != confinement::drop_root) GTEST_SKIP() << "the user is only chosen in drop_root mode";
  spec.argv = {"id", "-u"};
  std::vector<std::string> words = build_command_line(spec);
  const auto at = std::find(words.begin(), words.end(), "--uid");
  ASSERT_NE(at, words.end());
  // 2^32 would become root; -1 and 2^32 - 1 mean "unchanged".
  for (const char* bad :
       {"0", "4294967295", "4294967296", "18446744073709551615", "99999999999999999999", "-1", "", " 7", "7 "}) {
    at[1] = bad;
    const outcome out = execute(words);
    EXPECT_EQ(out.exit_code, 125) << bad << ": " << out.output;
  }
  words.erase(at, at + 2);
  const outcome out = execute(words);
  EXPECT_EQ(out.exit_code, 125) << out.output;
  EXPECT_EQ(out.output.find("\n0"), std::string::npos) << out.output;
}

TEST_F(command_line_test, a_missing_bwrap_is_not_reported_as_a_missing_program) {
  spec.bwrap_path = "/usr/bin/no-such-bwrap";
  EXPECT_EQ(execute(shell("true")).exit_code, 125);
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

TEST_F(command_line_test, without_a_project_the_workspace_is_empty_and_temporary) {
  spec.workspace.clear();
  const auto out = execute(shell("ls -A; echo x > y && cat y; echo $HOME"));
  EXPECT_EQ(out.output, "x\n/workspace\n");
  EXPECT_EQ(execute(shell("ls -A")).output, "");
}

TEST_F(command_line_test, host_paths_are_visible_and_writable_as_specified) {
  const std::string readable = (root / "readable").string(), writable = (root / "writable").string();
  for (const auto& dir : {readable, writable}) {
    fs::create_directory(dir);
    fs::permissions(dir, fs::perms::all);
  }
  fs::permissions(root, fs::perms::owner_all | fs::perms::others_exec | fs::perms::others_read);
  std::ofstream(readable + "/a") << "there";
  spec.host_paths = {{readable, false}, {writable, true}, {"/no/such/place", false}};
  const auto script = "cat " + readable + "/a; echo x > " + readable + "/b || echo no; echo kept > " + writable + "/c";
  const auto out = execute(shell(script));
  EXPECT_NE(out.output.find("there"), std::string::npos) << out.output;
  EXPECT_NE(out.output.find("no"), std::string::npos) << out.output;
  EXPECT_FALSE(fs::exists(readable + "/b"));
  EXPECT_TRUE(fs::exists(writable + "/c"));
}

TEST_F(command_line_test, hidden_paths_are_empty) {
  const std::string place = (root / "place").string();
  fs::create_directories(place + "/data/deep");
  std::ofstream(place + "/data/key") << "secret";
  std::ofstream(place + "/netrc") << "secret";
  std::ofstream(place + "/open") << "there";
  for (const auto& each : fs::recursive_directory_iterator(root))
    if (!each.is_symlink()) fs::permissions(each, fs::perms::others_all, fs::perm_options::add);
  for (const bool writable : {false, true}) {
    spec.host_paths = {{place, writable}};
    spec.hidden = {{place + "/data", true}, {place + "/netrc", false}};
    const auto out = execute(shell("cat " + place + "/open; ls -A " + place + "/data; cat " + place + "/netrc; cat " +
                                   place + "/data/key; echo x > " + place + "/data/planted; umount " + place +
                                   "/data; cat " + place + "/data/key; true"));
    EXPECT_NE(out.output.find("there"), std::string::npos) << out.output;
    EXPECT_EQ(out.output.find("secret"), std::string::npos) << out.output;
    EXPECT_FALSE(fs::exists(place + "/data/planted"));
    spec.hidden.clear();
    EXPECT_NE(execute(shell("cat " + place + "/data/key")).output.find("secret"), std::string::npos)
        << "a path that is not hidden is readable";
  }
}

TEST_F(command_line_test, a_cache_outlives_the_command_and_hides_its_path) {
  spec.workspace.clear();
  spec.cache = (root / "packages").string();
  fs::create_directory(spec.cache);
  fs::permissions(spec.cache, fs::perms::all);
  const auto out = execute(shell("cat /cache/a; echo kept > /cache/a; tr '\\0' ' ' < /proc/1/cmdline"));
  EXPECT_EQ(out.output.find(root.string()), std::string::npos) << out.output;
  EXPECT_EQ(execute(shell("cat /cache/a")).output, "kept\n");
  spec.cache.clear();
  EXPECT_EQ(execute(shell("ls /cache 2> /dev/null || echo none")).output, "none\n");
}

TEST_F(command_line_test, the_memory_limit_may_apply_to_data_instead_of_address_space) {
  spec.limit.memory_bytes = 0;
  spec.limit.data_bytes = 64 << 20;
  EXPECT_EQ(execute(shell("ulimit -d; ulimit -v")).output, "65536\nunlimited\n");
}

}  // namespace

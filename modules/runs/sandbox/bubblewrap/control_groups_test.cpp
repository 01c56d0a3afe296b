// Most tests use a directory that behaves like the kernel's cgroup file system.
#include "control_groups.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace fs = std::filesystem;
using namespace bubblewrap;

namespace {

const std::string account = "0192f0c1-2d3e-7f00-8a1b-0123456789ab", other = "0192f0c1-2d3e-7f00-8a1b-0123456789ac";

std::set<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> out;
  for (std::string word; in >> word;) out.insert(word);
  return out;
}

class kernel : public group_files {
 public:
  explicit kernel(std::string root) : root_(std::move(root)) {
    fill(root_);
    put(root_ + "/cgroup.controllers", "cpu io memory pids");
  }
  void put(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::trunc) << text; }
  std::string get(const std::string& file) { return group_files::read(file).value_or("none"); }

  int make(const std::string& directory) override {
    if (refuse_to_make) return EACCES;
    if (fs::exists(directory)) return EEXIST;
    if (const int error = group_files::make(directory); error != 0) return error;
    fill(directory);
    inherit_controllers(directory);
    return 0;
  }
  int remove(const std::string& directory) override {
    if (!fs::exists(directory)) return ENOENT;
    if (!words(get(directory + "/cgroup.procs")).empty()) return EBUSY;
    for (const auto& entry : fs::directory_iterator(directory))
      if (entry.is_directory()) return EBUSY;
    fs::remove_all(directory);
    return 0;
  }
  int write(const std::string& file, std::string_view text) override {
    const fs::path path(file);
    const std::string directory = path.parent_path().string(), name = path.filename().string();
    if (!fs::exists(path)) return ENOENT;
    if (name == "cgroup.procs") {
      if (!words(get(directory + "/cgroup.subtree_control")).empty()) return EBUSY;
      for (const auto& each : fs::recursive_directory_iterator(root_))
        if (each.path().filename() == "cgroup.procs") drop(each.path().string(), std::string(text));
      drop(root_ + "/cgroup.procs", std::string(text));
      put(file, get(file) + std::string(text) + "\n");
      return 0;
    }
    if (name == "cgroup.subtree_control") {
      if (!words(get(directory + "/cgroup.procs")).empty()) return EBUSY;
      const auto available = words(get(directory + "/cgroup.controllers"));
      for (const std::string& each : words(std::string(text)))
        if (!available.contains(each.substr(1))) return ENOENT;
      for (const std::string& each : words(std::string(text)))
        if (!words(get(file)).contains(each.substr(1))) put(file, get(file) + each.substr(1) + " ");
      for (const auto& entry : fs::directory_iterator(directory))
        if (entry.is_directory()) inherit_controllers(entry.path().string());
      return 0;
    }
    if (name == "cgroup.kill") {
      put(directory + "/cgroup.procs", "");
      return 0;
    }
    put(file, "");
    return group_files::write(file, text);
  }
  std::optional<std::string> read(const std::string& file) override { return group_files::read(file); }
  bool delegated(const std::string& directory) override { return is_delegated && directory == root_; }

  bool is_delegated = true, refuse_to_make = false, has_bfq = false;

 private:
  void fill(const std::string& directory) {
    for (const char* file : {"cgroup.procs", "cgroup.subtree_control", "cgroup.kill"}) put(directory + "/" + file, "");
  }
  // Makes the controllers that the parent enables available, with their files.
  void inherit_controllers(const std::string& directory) {
    const auto before = words(get(directory + "/cgroup.controllers"));
    put(directory + "/cgroup.controllers", get(fs::path(directory).parent_path().string() + "/cgroup.subtree_control"));
    for (const std::string& each : words(get(directory + "/cgroup.controllers"))) {
      if (before.contains(each)) continue;
      if (each == "memory")
        for (const char* file : {"memory.max", "memory.swap.max", "memory.oom.group", "memory.events"})
          put(directory + "/" + file, "");
      if (each == "pids") put(directory + "/pids.max", "max");
      if (each == "cpu") put(directory + "/cpu.weight", "100");
      if (each == "io") put(directory + "/io.weight", "default 100");
      if (each == "io" && has_bfq) put(directory + "/io.bfq.weight", "100");
    }
  }
  void drop(const std::string& file, const std::string& id) {
    std::string remaining;
    for (const std::string& each : words(get(file)))
      if (each != id) remaining += each + "\n";
    put(file, remaining);
  }
  const std::string root_;
};

class control_groups_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-groups-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    auto own = std::make_unique<kernel>(root);
    fake = own.get();
    groups = std::make_unique<control_groups>(std::move(own));
    fake->put(root + "/cgroup.procs", std::to_string(::getpid()) + "\n123456789\n");
  }
  void TearDown() override { fs::remove_all(root); }

  std::string root;
  kernel* fake = nullptr;
  std::unique_ptr<control_groups> groups;
  const group_settings settings{{8ull << 30, 500}, 20, 30, 0, 0};
};

TEST_F(control_groups_test, splits_the_servers_group) {
  EXPECT_FALSE(groups->usable());
  EXPECT_EQ(groups->prepare(root, settings), "");
  EXPECT_TRUE(groups->usable());
  EXPECT_EQ(fake->get(root + "/cgroup.procs"), "");
  EXPECT_EQ(words(fake->get(root + "/server/cgroup.procs")), words(std::to_string(::getpid()) + " 123456789"));
  for (const std::string& each : {root, root + "/sandbox"})
    EXPECT_EQ(words(fake->get(each + "/cgroup.subtree_control")), words("cpu io memory pids"));
  EXPECT_EQ(fake->get(root + "/sandbox/cpu.weight"), "20");
  EXPECT_EQ(fake->get(root + "/sandbox/io.weight"), "default 30");
}

TEST_F(control_groups_test, limits_commands_and_accounts) {
  ASSERT_EQ(groups->prepare(root, settings), "");
  const std::string a = groups->add(account, {1 << 30, 64}), b = groups->add(account, {2 << 20, 0}),
                    c = groups->add(other, {});
  EXPECT_EQ(fs::path(a).parent_path(), root + "/sandbox/" + account);
  EXPECT_EQ(fs::path(b).parent_path(), fs::path(a).parent_path());
  EXPECT_NE(fs::path(c).parent_path(), fs::path(a).parent_path());
  EXPECT_EQ(fake->get(a + "/memory.max"), "1073741824");
  EXPECT_EQ(fake->get(a + "/memory.swap.max"), "0");
  EXPECT_EQ(fake->get(a + "/memory.oom.group"), "1");
  EXPECT_EQ(fake->get(a + "/pids.max"), "64");
  EXPECT_EQ(fake->get(b + "/pids.max"), "max");
  EXPECT_EQ(fake->get(c + "/memory.max"), "");
  EXPECT_EQ(fake->get(root + "/sandbox/" + account + "/memory.max"), std::to_string(8ull << 30));
  EXPECT_EQ(fake->get(root + "/sandbox/" + account + "/pids.max"), "500");
  const std::string idle = groups->add(std::string(control_groups::waiting), {});
  EXPECT_EQ(fake->get(fs::path(idle).parent_path().string() + "/memory.max"), "")
      << "waiting sandboxes have no account limit";
}

TEST_F(control_groups_test, removes_groups_with_their_commands) {
  ASSERT_EQ(groups->prepare(root, settings), "");
  const std::string a = groups->add(account, {}), b = groups->add(account, {});
  groups->remove(a);
  EXPECT_FALSE(fs::exists(a));
  EXPECT_TRUE(fs::exists(b));
  groups->remove(b);
  EXPECT_FALSE(fs::exists(root + "/sandbox/" + account));
  EXPECT_NE(groups->add(account, {}), "") << "the account's group is created again";
}

TEST_F(control_groups_test, removes_a_busy_group_later) {
  ASSERT_EQ(groups->prepare(root, settings), "");
  const std::string a = groups->add(account, {});
  fs::create_directory(a + "/made-by-something-else");
  groups->remove(a);
  EXPECT_TRUE(fs::exists(a));
  fs::remove(a + "/made-by-something-else");
  groups->remove(groups->add(other, {}));
  EXPECT_FALSE(fs::exists(a));
  EXPECT_FALSE(fs::exists(root + "/sandbox/" + account));
}

TEST_F(control_groups_test, moves_a_waiting_sandbox) {
  ASSERT_EQ(groups->prepare(root, settings), "");
  const std::string from = groups->add(std::string(control_groups::waiting), {}), to = groups->add(account, {});
  fake->put(from + "/cgroup.procs", "11\n12\n");
  EXPECT_TRUE(groups->move(from, to));
  EXPECT_EQ(words(fake->get(to + "/cgroup.procs")), words("11 12"));
  EXPECT_TRUE(groups->move(from, to)) << "no process is left to move";
  fake->put(from + "/cgroup.procs", "13\n");
  EXPECT_FALSE(groups->move(from, root + "/sandbox/gone"));
}

TEST_F(control_groups_test, reports_kills_by_the_kernel) {
  ASSERT_EQ(groups->prepare(root, settings), "");
  const std::string a = groups->add(account, {});
  const std::string parent = fs::path(a).parent_path().string();
  EXPECT_EQ(groups->ran_out_of_memory(a), memory_verdict::none);
  fake->put(a + "/memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 0\noom_group_kill 0\n");
  EXPECT_EQ(groups->ran_out_of_memory(a), memory_verdict::none);
  fake->put(a + "/memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n");
  EXPECT_EQ(groups->ran_out_of_memory(a), memory_verdict::command);
  fake->put(a + "/memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 3\noom_group_kill 1\n");
  EXPECT_EQ(groups->ran_out_of_memory(a), memory_verdict::node);
  fake->put(parent + "/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 3\noom_group_kill 1\n");
  EXPECT_EQ(groups->ran_out_of_memory(a), memory_verdict::node)
      << "these events may belong to another command of the account";
  fake->put(parent + "/memory.events.local", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 0\noom_group_kill 0\n");
  EXPECT_EQ(groups->ran_out_of_memory(a), memory_verdict::account);
  EXPECT_EQ(groups->ran_out_of_memory(root + "/gone"), memory_verdict::none);
}

TEST_F(control_groups_test, reserves_a_part_for_the_server) {
  fake->put(root + "/memory.max", std::to_string(400 << 20) + "\n");
  fake->put(root + "/pids.max", "1000\n");
  group_settings s = settings;
  s.memory_percent = 75;
  s.processes_percent = 50;
  ASSERT_EQ(groups->prepare(root, s), "");
  EXPECT_EQ(fake->get(root + "/sandbox/memory.max"), std::to_string(300 << 20));
  EXPECT_EQ(fake->get(root + "/sandbox/pids.max"), "500");
}

TEST_F(control_groups_test, uses_the_machines_memory_if_the_server_has_no_limit) {
  fake->put(root + "/memory.max", "max\n");
  fake->put(root + "/pids.max", "max\n");
  group_settings s = settings;
  s.memory_percent = 100;
  s.processes_percent = 50;
  ASSERT_EQ(groups->prepare(root, s), "");
  std::ifstream meminfo("/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  meminfo >> name >> kib;
  EXPECT_NEAR(std::stod(fake->get(root + "/sandbox/memory.max")), static_cast<double>(kib << 10), 100);
  EXPECT_EQ(fake->get(root + "/sandbox/pids.max"), "max");
}

TEST_F(control_groups_test, sets_weights_for_both_io_schedulers) {
  fake->has_bfq = true;
  ASSERT_EQ(groups->prepare(root, settings), "");
  EXPECT_EQ(fake->get(root + "/sandbox/io.weight"), "default 30");
  EXPECT_EQ(fake->get(root + "/sandbox/io.bfq.weight"), "30");
}

TEST_F(control_groups_test, scales_weights_for_bfq) {
  fake->has_bfq = true;
  group_settings s = settings;
  s.io_weight = 10000;
  ASSERT_EQ(groups->prepare(root, s), "");
  EXPECT_EQ(fake->get(root + "/sandbox/io.bfq.weight"), "1000");
}

TEST_F(control_groups_test, reports_the_memory_of_a_command) {
  ASSERT_EQ(groups->prepare(root, settings), "");
  const std::string group = groups->add(account, {1 << 30, 100});
  EXPECT_EQ(groups->memory_of(group), std::nullopt);
  fake->put(group + "/memory.current", "123456789\n");
  EXPECT_EQ(groups->memory_of(group), 123456789u);
  fake->put(group + "/memory.current", "");
  EXPECT_EQ(groups->memory_of(group), std::nullopt);
}

TEST_F(control_groups_test, removes_groups_of_an_earlier_start) {
  fs::create_directories(root + "/sandbox/" + account + "/1-2-3");
  fake->put(root + "/sandbox/cgroup.subtree_control", "");
  for (const std::string& each :
       {root + "/sandbox", root + "/sandbox/" + account, root + "/sandbox/" + account + "/1-2-3"}) {
    fake->put(each + "/cgroup.procs", "");
    fake->put(each + "/cgroup.controllers", "cpu io memory pids");
  }
  EXPECT_EQ(groups->prepare(root, settings), "");
  EXPECT_FALSE(fs::exists(root + "/sandbox/" + account));
}

TEST_F(control_groups_test, a_later_instance_of_the_module_uses_the_same_group) {
  ASSERT_EQ(groups->prepare(root, settings), "");
  auto again = std::make_unique<kernel>(root);
  again->put(root + "/cgroup.procs", "");
  again->put(root + "/cgroup.subtree_control", "cpu io memory pids ");
  again->is_delegated = false;
  again->put(root + "/server/cgroup.procs", std::to_string(::getpid()));
  control_groups next(std::move(again));
  EXPECT_EQ(next.prepare(root + "/server", settings), "");
  EXPECT_EQ(fs::path(next.add(account, {})).parent_path(), root + "/sandbox/" + account);
}

TEST_F(control_groups_test, does_not_take_over_a_group_with_other_programs) {
  fake->is_delegated = false;
  EXPECT_NE(groups->prepare(root, settings).find("contains other programs"), std::string::npos);
  EXPECT_FALSE(groups->usable());
  EXPECT_EQ(words(fake->get(root + "/cgroup.procs")).size(), 2u);
  EXPECT_FALSE(fs::exists(root + "/server"));
  fake->put(root + "/cgroup.procs", std::to_string(::getpid()));
  EXPECT_EQ(groups->prepare(root, settings), "") << "the server is the only program of the group";
}

TEST_F(control_groups_test, reports_the_missing_requirement) {
  EXPECT_NE(groups->prepare("", settings).find("no control groups of version 2"), std::string::npos);
  fake->put(root + "/cgroup.controllers", "cpu memory");
  EXPECT_NE(groups->prepare(root, settings).find("\"pids\""), std::string::npos);
  fake->put(root + "/cgroup.controllers", "memory pids");
  fake->refuse_to_make = true;
  EXPECT_NE(groups->prepare(root, settings).find("not delegated"), std::string::npos);
  EXPECT_FALSE(groups->usable());
  fake->refuse_to_make = false;
  EXPECT_EQ(groups->prepare(root, settings), "") << "the controllers for weights are optional";
  fake->refuse_to_make = true;
  EXPECT_EQ(groups->add(account, {}), "");
}

TEST(own_group_test, is_found_for_all_kinds_of_mounts) {
  const std::string unified = "24 1 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(own_group(unified, "0::/system.slice/runyard.service\n"), "/sys/fs/cgroup/system.slice/runyard.service");
  EXPECT_EQ(own_group(unified, "0::/\n"), "/sys/fs/cgroup");
  const std::string hybrid =
      "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n40 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(own_group(hybrid, "4:memory:/a\n0::/b\n"), "/sys/fs/cgroup/unified/b");
  EXPECT_EQ(own_group("24 1 0:22 /docker/1a /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/1a\n"),
            "/sys/fs/cgroup");
  EXPECT_EQ(own_group("24 1 0:22 /docker/1a /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/1a/b\n"),
            "/sys/fs/cgroup/b");
  EXPECT_EQ(own_group("24 1 0:22 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/1a\n"), "");
  EXPECT_EQ(own_group("24 1 0:22 / /a\\040b rw - cgroup2 cgroup rw\n", "0::/c\n"), "/a b/c");
  EXPECT_EQ(own_group("30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "4:memory:/a\n"), "");
  EXPECT_EQ(own_group("", ""), "");
}

// Uses the real kernel. Requires that a group is delegated to this test: systemd-run --scope -p Delegate=yes ...
class kernel_groups_test : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto text_of = [](const char* path) { return group_files().read(path).value_or(""); };
    const std::string missing = groups.prepare(own_group(text_of("/proc/self/mountinfo"), text_of("/proc/self/cgroup")),
                                               {{256 << 20, 100}, 20, 20, 75, 75});
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  int run(const std::string& group, const std::string& script) {
    const std::string program = fs::read_symlink("/proc/self/exe").replace_filename("runyard-sandbox-exec");
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl(program.c_str(), program.c_str(), "filter", "--group", group.c_str(), "/dev/null", "perl", "-MSocket",
              "-e", script.c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  control_groups groups;
};

TEST_F(kernel_groups_test, kernel_memory_counts) {
  const char* fill =
      "my @all; for (1 .. 1000) { socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, 0) or last; $a->blocking(0); "
      "syswrite($a, q(x) x 65536) for 1 .. 8; push @all, $a, $b } exit 7";
  const std::string small = groups.add(account, {32 << 20, 0});
  EXPECT_EQ(run(small, fill), 128 + SIGKILL);
  EXPECT_EQ(groups.ran_out_of_memory(small), memory_verdict::command);
  groups.remove(small);
  EXPECT_FALSE(fs::exists(small));
  const std::string large = groups.add(account, {});
  EXPECT_EQ(
      run(large,
          "my @all; for (1 .. 20) { socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, 0) or last; push @all, $a, $b } exit 7"),
      7);
  EXPECT_EQ(groups.ran_out_of_memory(large), memory_verdict::none);
  groups.remove(large);
}

TEST_F(kernel_groups_test, an_account_has_a_separate_limit) {
  const std::string fork_until_refused =
      "my $n = 0; for (1 .. 300) { my $p = fork; last unless defined $p; if (!$p) { sleep 20; exit } $n++ } exit($n < 110 ? 7 : 8)";
  const std::string one = groups.add(account, {}), two = groups.add(account, {0, 10});
  EXPECT_EQ(run(one, fork_until_refused), 7);
  EXPECT_EQ(
      run(two,
          "my $n = 0; for (1 .. 30) { my $p = fork; last unless defined $p; if (!$p) { sleep 20; exit } $n++ } exit($n < 11 ? 7 : 8)"),
      7);
  const std::string other_account = groups.add(other, {});
  EXPECT_EQ(run(other_account, "exit(defined fork ? 7 : 8)"), 7);
  for (const std::string& each : {one, two, other_account}) groups.remove(each);
  // Killed processes do not exit immediately.
  for (int i = 0; i < 100 && fs::exists(one); ++i) {
    ::usleep(50'000);
    groups.remove(groups.add(other, {}));
  }
  EXPECT_FALSE(fs::exists(one));
}

TEST_F(kernel_groups_test, a_waiting_process_can_be_moved) {
  const std::string from = groups.add(std::string(control_groups::waiting), {}),
                    to = groups.add(account, {16 << 20, 0});
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char c = 0;
    ::close(ends[1]);
    if (::read(ends[0], &c, 1) != 1) ::_exit(9);
    std::string all(64 << 20, 'x');
    ::_exit(all[5] == 'x' ? 7 : 8);
  }
  ASSERT_EQ(group_files().write(from + "/cgroup.procs", std::to_string(child)), 0);
  EXPECT_TRUE(groups.move(from, to));
  groups.remove(from);
  EXPECT_FALSE(fs::exists(from));
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_EQ(groups.ran_out_of_memory(to), memory_verdict::command);
  groups.remove(to);
}

}  // namespace

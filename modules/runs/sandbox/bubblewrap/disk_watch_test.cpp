#include "disk_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/remove_tree.hpp"
#include "processes.hpp"

namespace fs = std::filesystem;
using namespace bubblewrap;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t mib = 1 << 20;
const std::string project = "0192f0c1-2d3e-7f00-8a1b-0123456789ab";

template <class Condition>
bool within(std::chrono::seconds time, Condition condition) {
  for (const auto until = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < until;) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return condition();
}

class disk_watch_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-disk-watch-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    all = std::make_unique<workspaces>(root.string());
    ASSERT_FALSE(all->ensure(project, std::nullopt));
    home = root / project;
  }
  void TearDown() override {
    if (child > 0) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    disk::remove_tree(root.string());
  }
  void fill(const std::string& name, std::size_t bytes) { std::ofstream(home / name) << std::string(bytes, 'x'); }
  disk_command command(std::uint64_t bytes, std::uint64_t files = UINT64_MAX) {
    disk_command out;
    out.leader = ::getpid();
    EXPECT_FALSE(all->open_workspace(project, out.workspace));
    out.project = project;
    out.max_bytes = bytes;
    out.max_files = files;
    out.terminate = [this] { ++terminated; };
    return out;
  }
  // Creates a chain of nested directories.
  void nest(int levels) {
    int at = ::open(home.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < levels; ++i) {
      ASSERT_TRUE(::mkdirat(at, "d", 0755) == 0 || errno == EEXIST);
      const int inner = ::openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      ::close(at);
      at = inner;
    }
    ::close(at);
  }
  // Waits long enough for two measurements of a workspace.
  static void wait_for_two_measurements() { std::this_thread::sleep_for(2500ms); }
  // Starts a process that does `work` and then waits.
  template <class Work>
  void begin(Work work) {
    int ready[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    child = ::fork();
    if (child == 0) {
      const char done = work() ? '1' : '0';
      if (::write(ready[1], &done, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char done = 0;
    ASSERT_EQ(::read(ready[0], &done, 1), 1);
    ASSERT_EQ(done, '1');
    ::close(ready[0]);
    ::close(ready[1]);
  }

  fs::path root, home;
  std::unique_ptr<workspaces> all;
  std::atomic<int> terminated{0};
  pid_t child = -1;
};

TEST_F(disk_watch_test, the_sizes_of_all_files_are_added_up) {
  disk_watch watch(0);
  watch.add(this, command(4 * mib));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(terminated, 0);
  for (int i = 0; i < 6; ++i) fill("f" + std::to_string(i), mib);
  EXPECT_TRUE(within(20s, [&] { return terminated == 1; }));
  EXPECT_EQ(watch.verdict_on(this), disk_verdict::bytes);
}

TEST_F(disk_watch_test, a_command_that_exceeds_the_file_limit_is_terminated) {
  disk_watch watch(0);
  watch.add(this, command(UINT64_MAX, 100));
  for (int i = 0; i < 99; ++i) fs::create_symlink("x", home / std::to_string(i));
  wait_for_two_measurements();
  EXPECT_EQ(terminated, 0);
  for (int i = 0; i < 20; ++i) fs::create_hard_link(home / "0", home / ("link" + std::to_string(i)));
  EXPECT_TRUE(within(20s, [&] { return terminated == 1; }));
  EXPECT_EQ(watch.verdict_on(this), disk_verdict::files);
}

TEST_F(disk_watch_test, deleted_files_that_are_still_open_count) {
  struct stat status {};
  ASSERT_EQ(::stat(home.c_str(), &status), 0);
  // The thread sanitizer itself maps a deleted file.
  const std::uint64_t before = unlinked_bytes({::getpid()}, status.st_dev).value_or(0);
  begin([this] {
    for (int i = 0; i < 6; ++i) {
      const int fd = ::open((home / "gone").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
      if (fd < 0 || ::posix_fallocate(fd, 0, mib) != 0 || ::unlink((home / "gone").c_str()) != 0) return false;
    }
    return true;
  });
  EXPECT_GE(unlinked_bytes({child}, status.st_dev), before + 6 * mib);
  EXPECT_LT(unlinked_bytes({child}, status.st_dev), before + 7 * mib);
  EXPECT_EQ(unlinked_bytes({::getpid()}, status.st_dev), before);
  disk_watch watch(0);
  disk_command c = command(4 * mib);
  c.leader = child;
  watch.add(this, std::move(c));
  EXPECT_TRUE(within(20s, [&] { return terminated == 1; }));
  EXPECT_EQ(watch.verdict_on(this), disk_verdict::bytes);
}

TEST_F(disk_watch_test, deleted_files_that_are_still_mapped_count) {
  begin([this] {
    const int fd = ::open((home / "gone").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || ::posix_fallocate(fd, 0, 6 * mib) != 0 || ::unlink((home / "gone").c_str()) != 0) return false;
    const bool mapped = ::mmap(nullptr, 6 * mib, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED;
    ::close(fd);
    return mapped;
  });
  struct stat status {};
  ASSERT_EQ(::stat(home.c_str(), &status), 0);
  EXPECT_GE(unlinked_bytes({child}, status.st_dev), 6 * mib);
}

TEST_F(disk_watch_test, a_command_with_too_many_mappings_is_terminated) {
  begin([this] {
    const int fd = ::open((home / "gone").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || ::posix_fallocate(fd, 0, 4096) != 0 || ::unlink((home / "gone").c_str()) != 0) return false;
    for (std::size_t i = 0; i < max_mappings; ++i)
      if (::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) return false;
    return true;
  });
  struct stat status {};
  ASSERT_EQ(::stat(home.c_str(), &status), 0);
  EXPECT_EQ(unlinked_bytes({child}, status.st_dev), std::nullopt);
  EXPECT_NE(unlinked_bytes({::getpid()}, status.st_dev), std::nullopt);
  disk_watch watch(0);
  disk_command c = command(1024 * mib);
  c.leader = child;
  watch.add(this, std::move(c));
  EXPECT_TRUE(within(20s, [&] { return terminated == 1; }));
  EXPECT_EQ(watch.verdict_on(this), disk_verdict::uncounted);
}

TEST_F(disk_watch_test, descriptors_above_a_lowered_limit_of_an_undumpable_process_are_found) {
  begin([this] {
    const int fd = ::open((home / "gone").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || ::posix_fallocate(fd, 0, 6 * mib) != 0 || ::unlink((home / "gone").c_str()) != 0) return false;
    if (::dup2(fd, 200) != 200) return false;
    ::close(fd);
    const struct rlimit low { 10, 10 };
    return ::setrlimit(RLIMIT_NOFILE, &low) == 0 && ::prctl(PR_SET_DUMPABLE, 0) == 0;
  });
  struct stat status {};
  ASSERT_EQ(::stat(home.c_str(), &status), 0);
  if (may_copy_descriptors()) {
    EXPECT_GE(unlinked_bytes({child}, status.st_dev), 6 * mib);
  }
}

TEST_F(disk_watch_test, a_command_that_exceeds_its_cache_size_is_terminated) {
  fill("package", 2 * mib);
  disk_watch watch(0);
  disk_command c = command(1024 * mib);
  c.cache = std::move(c.workspace);
  c.workspace = unique_fd();
  c.cache_bytes = 4 * mib;
  watch.add(this, std::move(c));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(terminated, 0);
  fill("another", 3 * mib);
  EXPECT_TRUE(within(20s, [&] { return terminated == 1; }));
  EXPECT_EQ(watch.verdict_on(this), disk_verdict::cache);
}

TEST_F(disk_watch_test, deleted_files_of_a_cache_count_without_a_workspace) {
  begin([this] {
    const int fd = ::open((home / "gone").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    return fd >= 0 && ::posix_fallocate(fd, 0, 6 * mib) == 0 && ::unlink((home / "gone").c_str()) == 0;
  });
  disk_watch watch(0);
  disk_command c = command(UINT64_MAX);
  c.leader = child;
  c.cache = std::move(c.workspace);
  c.workspace = unique_fd();
  c.cache_bytes = 4 * mib;
  watch.add(this, std::move(c));
  EXPECT_TRUE(within(20s, [&] { return terminated == 1; }));
  EXPECT_EQ(watch.verdict_on(this), disk_verdict::cache);
}

TEST_F(disk_watch_test, an_oversized_workspace_may_shrink_but_not_grow) {
  fill("old", 6 * mib);
  disk::tree_use use;
  disk_watch watch(0);
  watch.add(this, command(4 * mib));
  wait_for_two_measurements();
  EXPECT_EQ(terminated, 0);
  fill("new", mib);
  EXPECT_TRUE(within(20s, [&] { return terminated == 1; }));
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::bytes);
  EXPECT_GE(use.bytes, 7 * mib);
  watch.remove(this);
  fs::remove(home / "old");
  watch.add(this, command(4 * mib));
  wait_for_two_measurements();
  EXPECT_EQ(terminated, 1);
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::none);
  watch.remove(this);
}

TEST_F(disk_watch_test, a_workspace_does_not_grow_from_one_command_to_the_next) {
  disk_watch watch(0);
  disk::tree_use use;
  const auto run = [&](const std::string& name, std::size_t bytes) {
    watch.add(this, command(8 * mib));
    fill(name, bytes);
    const disk_verdict out = watch.final_measurement(this, use);
    const bool exceeds_by_far = watch.is_far_over(this);
    watch.remove(this);
    return std::pair{out, exceeds_by_far};
  };
  EXPECT_EQ(run("a", 6 * mib), (std::pair{disk_verdict::none, false}));
  EXPECT_EQ(run("b", 30 * mib), (std::pair{disk_verdict::bytes, false})) << "a small excess";
  EXPECT_EQ(run("c", 30 * mib), (std::pair{disk_verdict::bytes, false}));
  EXPECT_EQ(run("d", 30 * mib), (std::pair{disk_verdict::bytes, true})) << "several small excesses";
  fs::remove(home / "c");
  EXPECT_EQ(run("e", 1), (std::pair{disk_verdict::none, false})) << "smaller than before";
  fs::remove(home / "b");
  fs::remove(home / "d");
  EXPECT_EQ(run("f", mib), (std::pair{disk_verdict::none, false}));
}

TEST_F(disk_watch_test, a_workspace_far_above_its_limit_is_emptied_even_if_depth_was_the_verdict) {
  disk_watch watch(0);
  disk::tree_use use;
  watch.add(this, command(8 * mib));
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::none);
  watch.remove(this);
  watch.add(this, command(8 * mib));
  nest(300);
  EXPECT_TRUE(within(20s, [&] { return terminated == 1; }));
  EXPECT_EQ(watch.verdict_on(this), disk_verdict::depth);
  EXPECT_FALSE(watch.is_far_over(this));
  fill("large", 90 * mib);
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::depth);
  EXPECT_TRUE(watch.is_far_over(this));
}

TEST_F(disk_watch_test, after_a_termination_for_the_reserve_a_workspace_must_not_exceed_its_limit) {
  disk_watch watch(UINT64_MAX);
  watch.set_directory(root.string());
  const auto run = [&](std::uint64_t limit, std::size_t bytes) {
    terminated = 0;
    disk::tree_use use;
    watch.add(this, command(limit));
    EXPECT_TRUE(within(20s, [&] { return terminated == 1; }));
    if (bytes != 0) fill("f", bytes);
    (void)watch.final_measurement(this, use);
    const std::pair out{watch.verdict_on(this), watch.is_far_over(this)};
    watch.remove(this);
    return out;
  };
  EXPECT_EQ(run(UINT64_MAX, 3 * mib), (std::pair{disk_verdict::space, false}));
  EXPECT_EQ(run(2 * mib, 0).second, false) << "the workspace was already too large before";
  EXPECT_EQ(run(2 * mib, 4 * mib).second, true);
}

TEST_F(disk_watch_test, short_commands_are_measured_after_their_exit) {
  disk::tree_use use;
  disk_watch watch(0);
  watch.add(this, command(4 * mib, 1000));
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::none);
  watch.remove(this);
  watch.add(this, command(4 * mib, 1000));
  fill("large", 5 * mib);
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::bytes);
  EXPECT_GE(use.bytes, 5 * mib);
  watch.remove(this);
  // The complete size is measured even if a walk stopped early, so that a later command may remove files.
  for (int i = 0; i < 1500; ++i) fs::create_symlink("x", home / std::to_string(i));
  watch.add(this, command(4 * mib, 1000));
  EXPECT_NE(watch.final_measurement(this, use), disk_verdict::none);
  EXPECT_GE(use.entries, 1500u);
  watch.remove(this);
  for (int i = 0; i < 100; ++i) fs::remove(home / std::to_string(i));
  watch.add(this, command(4 * mib, 1000));
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::none);
  watch.remove(this);
  for (int i = 100; i < 1500; ++i) fs::remove(home / std::to_string(i));
  watch.add(this, command(4 * mib, 1000));
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::none);
  watch.remove(this);
  // Short commands cannot make a workspace that is above its limit larger either.
  watch.add(this, command(4 * mib, 1000));
  fill("more", mib);
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::bytes);
  watch.remove(this);
  fs::remove(home / "large");
  watch.add(this, command(4 * mib, 1000));
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::none);
  watch.remove(this);
}

TEST_F(disk_watch_test, directories_that_are_too_deep_are_removed_after_the_command) {
  nest(600);
  disk::tree_use use;
  disk_watch watch(0);
  watch.add(this, command(1024 * mib));
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::depth);
  EXPECT_FALSE(use.too_deep);
  watch.remove(this);
  // They are also removed if another limit is exceeded first.
  nest(300);
  fill("large", 5 * mib);
  watch.add(this, command(1024 * mib, 10));
  EXPECT_NE(watch.final_measurement(this, use), disk_verdict::none);
  EXPECT_FALSE(use.too_deep);
  watch.remove(this);
  watch.add(this, command(1024 * mib));
  EXPECT_EQ(watch.final_measurement(this, use), disk_verdict::none);
  watch.remove(this);
}

TEST_F(disk_watch_test, below_the_reserve_the_command_that_wrote_most_is_terminated_first) {
  begin([this] {
    const int fd = ::open((home / "written").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    const std::string text(mib, 'x');
    for (int i = 0; i < 4; ++i)
      if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return false;
    return true;
  });
  struct statvfs s {};
  ASSERT_EQ(::statvfs(home.c_str(), &s), 0);
  const std::uint64_t free_bytes = static_cast<std::uint64_t>(s.f_bavail) * s.f_frsize;
  std::atomic<bool> seen{false};
  // The reserve is larger than the free space, but less than twice as large, so that not all commands are terminated.
  disk_watch watch(free_bytes + free_bytes / 4, [&](std::uint64_t, bool enough) { seen = !enough; });
  watch.set_directory(root.string());
  EXPECT_FALSE(watch.free_space().enough);
  std::atomic<int> order{0}, idle_at{0}, writer_at{0};
  disk_command idle = command(UINT64_MAX), writer = command(UINT64_MAX);
  const pid_t quiet = ::fork();
  if (quiet == 0)
    for (;;) ::pause();
  idle.leader = quiet;
  idle.terminate = [&] { idle_at = ++order; };
  writer.leader = child;
  writer.terminate = [&] { writer_at = ++order; };
  const int a = 0, b = 0;
  watch.add(&a, std::move(idle));
  watch.add(&b, std::move(writer));
  const bool counted = written_bytes({child}) > 0;  // some kernels do not count
  EXPECT_TRUE(within(20s, [&] { return order == 2; }));
  EXPECT_TRUE(seen);
  if (counted) {
    EXPECT_EQ(writer_at, 1);
  }
  EXPECT_EQ(watch.verdict_on(&a), disk_verdict::space);
  ::kill(quiet, SIGKILL);
  ::waitpid(quiet, nullptr, 0);
  EXPECT_TRUE(disk_watch(0).free_space().enough);
}

// Uses a simulated file system whose free space the test sets.
TEST_F(disk_watch_test, below_half_of_the_reserve_the_account_that_took_most_is_terminated) {
  std::atomic<std::uint64_t> free_mb{1000};
  disk_watch watch(100 * mib, {}, [&] { return disk_watch::space{free_mb * mib, free_mb >= 100}; });
  struct state {
    std::string account;
    std::atomic<bool> terminated{false};
  };
  std::vector<state> commands(4);
  const char* const accounts[] = {"quiet", "hostile", "hostile", "quiet"};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    disk_command c = command(UINT64_MAX);
    c.leader = -1;
    c.project = std::to_string(i);
    c.account = accounts[i];
    c.terminate = [&, i] {
      free_mb = 1000;
      commands[i].terminated = true;
    };
    if (i != 0 && i != 3) {
      const fs::path own = root / std::to_string(i);
      fs::create_directory(own);
      c.workspace = unique_fd(::open(own.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    watch.add(&commands[i], std::move(c));
  }
  // Allocated but not written, so the kernel's counters of written bytes do not include it.
  wait_for_two_measurements();
  for (const char* name : {"1", "2"}) {
    const unique_fd file(::open((root / name / "f").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    ASSERT_EQ(::posix_fallocate(file.get(), 0, 8 * mib), 0);
  }
  wait_for_two_measurements();
  for (const state& each : commands) EXPECT_FALSE(each.terminated);
  free_mb = 40;
  EXPECT_TRUE(within(20s, [&] { return commands[1].terminated && commands[2].terminated; }));
  EXPECT_FALSE(commands[0].terminated);
  EXPECT_FALSE(commands[3].terminated);
  free_mb = 10;
  EXPECT_TRUE(within(20s, [&] { return commands[0].terminated && commands[3].terminated; }));
}

TEST(processes_test, reports_whether_a_filter_refuses_to_copy_descriptors) {
  EXPECT_TRUE(may_copy_descriptors());
  const pid_t child = ::fork();
  if (child == 0) {
    const scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
    const bool filtered =
        ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(pidfd_getfd), 0) == 0 && ::seccomp_load(filter) == 0;
    ::_exit(!filtered ? 2 : may_copy_descriptors() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace

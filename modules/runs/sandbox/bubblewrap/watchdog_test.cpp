#include "watchdog.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "processes.hpp"

namespace fs = std::filesystem;
using namespace bubblewrap;

namespace {

constexpr std::size_t mib = 1 << 20;
const std::string project = "0192f0c1-2d3e-7f00-8a1b-0123456789ab";

// Writes to the memory with a system call, because a sanitizer would use several times the memory for ordinary writes.
void touch(void* memory, std::size_t bytes) {
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (std::size_t done = 0; done < bytes;) {
    const auto n = ::syscall(SYS_read, zero, static_cast<char*>(memory) + done, bytes - done);
    if (n <= 0) ::_exit(1);
    done += static_cast<std::size_t>(n);
  }
  ::close(zero);
}

// A process with `children`, each of which writes to `bytes` of memory; `shared`: to the same memory.
struct process_group {
  process_group(int children, std::size_t bytes, bool shared) {
    leader = ::fork();
    if (leader != 0) return;
    ::setpgid(0, 0);
    const auto allocate = [&] {
      void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      if (memory != MAP_FAILED) touch(memory, bytes);
      return memory;
    };
    void* before = shared ? allocate() : nullptr;
    for (int i = 0; i < children; ++i) {
      if (::fork() != 0) continue;
      if (before == nullptr) allocate();
      if (before != nullptr) touch(before, bytes);
      for (;;) ::pause();
    }
    for (;;) ::pause();
  }
  ~process_group() {
    ::kill(-leader, SIGKILL);
    ::waitpid(leader, nullptr, 0);
  }
  pid_t leader;
};

bool within(std::chrono::seconds timeout, const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

TEST(watchdog_test, memory_of_all_processes_is_added_up) {
  process_group four(4, 30 * mib, false);
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return total_memory(four.leader, 0) > 120 * mib; }));
}

// A file of /proc that can no longer be read must not cause an exception, which would terminate the server.
TEST(watchdog_test, processes_may_exit_during_a_measurement) {
  const pid_t restless = ::fork();
  if (restless == 0) {
    ::setpgid(0, 0);
    for (;;) {
      for (int i = 0; i < 20; ++i)
        if (::fork() == 0) ::_exit(0);
      while (::waitpid(-1, nullptr, 0) > 0) continue;
    }
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  do EXPECT_NO_THROW(total_memory(restless, 0));
  while (std::chrono::steady_clock::now() < until && !HasFailure());
  ::kill(restless, SIGKILL);
  ::waitpid(restless, nullptr, 0);
}

TEST(watchdog_test, shared_memory_counts_once) {
  process_group four(4, 100 * mib, true);
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return total_memory(four.leader, UINT64_MAX) > 500 * mib; }));
  // With room for a sanitizer's memory. All processes have touched the pages, so their shares no longer change.
  EXPECT_LT(total_memory(four.leader, 0), 200 * mib);
}

TEST(watchdog_test, only_the_command_above_its_limit_is_terminated) {
  watchdog dog;
  process_group modest(4, 10 * mib, false), greedy(4, 60 * mib, false);
  std::atomic<int> terminated{0};
  int a = 0, b = 0;
  dog.add(&a, {modest.leader, 200 * mib, [&] { terminated += 100; }});
  dog.add(&b, {greedy.leader, 200 * mib, [&] { ++terminated; }});
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return terminated == 1; }));
  EXPECT_EQ(dog.verdict_on(&b), memory_verdict::command);
  EXPECT_EQ(dog.verdict_on(&a), memory_verdict::none);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(terminated, 1);
  dog.remove(&b);
  EXPECT_EQ(dog.verdict_on(&b), memory_verdict::none);
}

// A machine whose available memory the test sets.
struct machine {
  std::atomic<std::uint64_t> available_mb{1000};
  memory_reserve reserve{256 * mib, [this] { return "MemAvailable: " + std::to_string(available_mb << 10) + " kB\n"; }};
};

// A command whose control group reports this memory.
watched_command charged(std::uint64_t bytes, std::function<void()> terminate) {
  watched_command out;
  out.terminate = std::move(terminate);
  out.charged = [bytes] { return std::optional(bytes); };
  return out;
}

// Waits for several measurements.
void wait_for_measurements() {
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

TEST(watchdog_test, below_the_reserve_the_largest_command_is_terminated) {
  machine here;
  std::atomic<std::uint64_t> seen{0};
  watchdog dog(here.reserve, [&](const memory_state& now) { seen = now.available_bytes; });
  std::atomic<int> small_terminated{0}, large_terminated{0};
  int small = 0, large = 0;
  dog.add(&small, charged(100 * mib, [&] { ++small_terminated; }));
  dog.add(&large, charged(900 * mib, [&] {
    here.available_mb = 900;
    ++large_terminated;
  }));
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return seen == 1000 * mib; }));
  EXPECT_EQ(large_terminated, 0);
  here.available_mb = 200;
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return large_terminated == 1; }));
  EXPECT_EQ(dog.verdict_on(&large), memory_verdict::node);
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return seen == 900 * mib; }));
  wait_for_measurements();
  EXPECT_EQ(large_terminated, 1);
  EXPECT_EQ(small_terminated, 0);
  EXPECT_EQ(dog.verdict_on(&small), memory_verdict::none);
}

TEST(watchdog_test, below_the_reserve_a_command_of_the_account_with_most_memory_is_terminated) {
  machine here;
  watchdog dog(here.reserve);
  std::atomic<int> honest_terminated{0}, hostile_terminated{0};
  std::vector<int> keys(5);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool honest = i == 0;
    watched_command c = charged(honest ? 60 * mib : (20 + i) * mib, [&, honest] {
      here.available_mb = 1000;
      ++(honest ? honest_terminated : hostile_terminated);
    });
    c.account = honest ? "honest" : "hostile";
    dog.add(&keys[i], std::move(c));
  }
  here.available_mb = 200;
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return hostile_terminated + honest_terminated != 0; }));
  wait_for_measurements();
  EXPECT_EQ(hostile_terminated, 1);
  EXPECT_EQ(dog.verdict_on(&keys[4]), memory_verdict::node) << "the largest command of the account";
  EXPECT_EQ(honest_terminated, 0);
}

TEST(watchdog_test, estimates_include_files_in_memory_file_systems) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ready[0]);
    const fs::path root = "/tmp/ry-watchdog-" + std::to_string(::getpid());
    const bool made = ::mkdir(root.c_str(), 0700) == 0 && ::unshare(CLONE_NEWNS) == 0 &&
                      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                      ::mount("tmpfs", root.c_str(), "tmpfs", 0, nullptr) == 0 &&
                      ::mkdir((root / "workspace").c_str(), 0700) == 0 &&
                      ::mount("tmpfs", (root / "workspace").c_str(), "tmpfs", 0, nullptr) == 0;
    if (made) std::ofstream(root / "workspace/f") << std::string(64 * mib, 'x');
    for (int i = 0; made && i < 8000; ++i) std::ofstream(root / "workspace" / std::to_string(i));
    if (!made || ::chroot(root.c_str()) != 0 || ::write(ready[1], "", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  // The child itself holds the content in memory while it writes: measure only after that.
  char byte = 0;
  const bool is_ready = ::read(ready[0], &byte, 1) == 1;
  ::close(ready[0]);
  if (is_ready) {
    EXPECT_GT(estimated_memory(child, true), 64 * mib + total_memory(child, 0, true));
    EXPECT_LT(estimated_memory(child, false), estimated_memory(child, true) - 60 * mib);
    // 8000 inodes of 1 KiB. The proportional memory of the process itself changes by some KiB between two measurements.
    EXPECT_GT(total_memory(child, 0, true), total_memory(child, 0, false) + 4 * mib);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  std::error_code ignored;
  fs::remove_all("/tmp/ry-watchdog-" + std::to_string(child), ignored);
  if (!is_ready) GTEST_SKIP() << "this system does not allow mounts";
}

TEST(watchdog_test, a_small_command_continues_until_half_of_the_reserve_is_used) {
  machine here;
  here.available_mb = 200;
  watchdog dog(here.reserve);
  std::atomic<int> terminated{0};
  int command = 0;
  dog.add(&command, charged(8 * mib, [&] { ++terminated; }));
  wait_for_measurements();
  EXPECT_EQ(terminated, 0);
  here.available_mb = 100;
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return terminated == 1; }));
}

// The memory of a terminated command is free only after its exit. A command that does not exit must not prevent further
// terminations.
TEST(watchdog_test, the_next_command_is_terminated_after_the_exit_of_the_previous_one) {
  machine here;
  here.available_mb = 200;
  watchdog dog(here.reserve);
  std::atomic<int> terminated{0};
  std::vector<int> commands(3);
  std::mutex mutex;
  std::vector<std::uint64_t> order;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::uint64_t bytes = (i + 1) * 100 * mib;
    dog.add(&commands[i], charged(bytes, [&, bytes] {
      std::lock_guard lock(mutex);
      order.push_back(bytes);
      ++terminated;
    }));
  }
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return terminated == 1; }));
  dog.remove(&commands[2]);
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return terminated == 3; }));
  EXPECT_EQ(order, (std::vector<std::uint64_t>{300 * mib, 200 * mib, 100 * mib}));
}

TEST(watchdog_test, without_control_groups_processes_are_compared) {
  machine here;
  here.available_mb = 100;
  process_group modest(1, 10 * mib, false), greedy(2, 60 * mib, false);
  ASSERT_TRUE(within(std::chrono::seconds(20), [&] { return total_memory(greedy.leader, UINT64_MAX) > 120 * mib; }));
  watchdog dog(here.reserve);
  std::atomic<int> terminated{0};
  int a = 0, b = 0;
  const auto command = [&](pid_t leader, int of) {
    watched_command out;
    out.leader = leader;
    out.terminate = [&, of] {
      here.available_mb = 1000;
      terminated = of;
    };
    return out;
  };
  dog.add(&a, command(modest.leader, 1));
  dog.add(&b, command(greedy.leader, 2));
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return terminated != 0; }));
  EXPECT_EQ(terminated, 2);
}

TEST(watchdog_test, sockets_and_pipes_count_as_if_they_were_full) {
  const std::uint64_t before = kernel_memory_bound({::getpid()});
  EXPECT_GT(before, 0u);  // page tables
  std::vector<std::array<int, 2>> open;
  for (int i = 0; i < 20; ++i) {
    open.emplace_back();
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, open.back().data()), 0);
    open.emplace_back();
    ASSERT_EQ(::pipe2(open.back().data(), O_CLOEXEC), 0);
  }
  const int copy = ::dup(open.front()[0]);  // the same socket
  const std::uint64_t expected = 40 * (208 << 10) + 20 * (64 << 10);
  const std::uint64_t with = kernel_memory_bound({::getpid()});
  EXPECT_GE(with, before + expected - mib / 4);
  EXPECT_LE(with, before + expected + mib / 4);
  ::close(copy);
  for (const auto& both : open)
    for (const int fd : both) ::close(fd);
}

TEST(watchdog_test, without_a_reserve_no_command_is_terminated_for_the_machine) {
  watchdog dog(memory_reserve(0, [] { return std::string("MemAvailable: 0 kB\n"); }));
  std::atomic<int> terminated{0};
  int command = 0;
  dog.add(&command, charged(900 * mib, [&] { ++terminated; }));
  wait_for_measurements();
  EXPECT_EQ(terminated, 0);
}

}  // namespace

#include "watchdog.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace bubblewrap;

namespace {

constexpr std::size_t mib = 1 << 20;
const std::string project = "0192f0c1-2d3e-7f00-8a1b-0123456789ab";

// Writes to all of it, by the kernel: a sanitizer that sees it would take several times the memory itself.
void touch(void* memory, std::size_t bytes) {
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (std::size_t done = 0; done < bytes;) {
    const auto n = ::syscall(SYS_read, zero, static_cast<char*>(memory) + done, bytes - done);
    if (n <= 0) ::_exit(1);
    done += static_cast<std::size_t>(n);
  }
  ::close(zero);
}

// A process with `children`, each of which writes to `bytes` of memory; `shared`: to the same.
struct family {
  family(int children, std::size_t bytes, bool shared) {
    leader = ::fork();
    if (leader != 0) return;
    ::setpgid(0, 0);
    const auto take = [&] {
      void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      if (memory != MAP_FAILED) touch(memory, bytes);
      return memory;
    };
    void* before = shared ? take() : nullptr;
    for (int i = 0; i < children; ++i) {
      if (::fork() != 0) continue;
      if (before == nullptr) take();
      if (before != nullptr) touch(before, bytes);
      for (;;) ::pause();
    }
    for (;;) ::pause();
  }
  ~family() {
    ::kill(-leader, SIGKILL);
    ::waitpid(leader, nullptr, 0);
  }
  pid_t leader;
};

bool within(std::chrono::seconds most, const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

TEST(watchdog_test, memory_of_all_processes_is_added_up) {
  family four(4, 30 * mib, false);
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return memory_of_all(four.leader, 0) > 120 * mib; }));
}

// What cannot be read any more must not end the thread that looks, and the server with it.
TEST(watchdog_test, processes_may_end_while_they_are_looked_at) {
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
  do EXPECT_NO_THROW(memory_of_all(restless, 0));
  while (std::chrono::steady_clock::now() < until && !HasFailure());
  ::kill(restless, SIGKILL);
  ::waitpid(restless, nullptr, 0);
}

TEST(watchdog_test, shared_memory_counts_once) {
  family four(4, 60 * mib, true);
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return memory_of_all(four.leader, UINT64_MAX) > 240 * mib; }));
  EXPECT_LT(memory_of_all(four.leader, 0), 100 * mib);
}

TEST(watchdog_test, ends_what_takes_too_much_together_and_nobody_else) {
  watchdog dog;
  family modest(4, 10 * mib, false), greedy(4, 30 * mib, false);
  std::atomic<int> ended{0};
  int a = 0, b = 0;
  dog.add(&a, {modest.leader, 100 * mib, [&] { ended += 100; }});
  dog.add(&b, {greedy.leader, 100 * mib, [&] { ++ended; }});
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return ended == 1; }));
  EXPECT_EQ(dog.verdict_on(&b), verdict::memory);
  EXPECT_EQ(dog.verdict_on(&a), verdict::none);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(ended, 1);
  dog.remove(&b);
  EXPECT_EQ(dog.verdict_on(&b), verdict::none);
}

}  // namespace

// Terminates commands that use too much memory. The kernel limits single processes; ten times a second, the watchdog
// adds up the memory of all processes of each command and terminates commands that exceed their limit. It also keeps
// the machine's reserve (memory_reserve): below the reserve, it terminates the largest command of the account whose
// commands use most, one at a time, until enough memory is available. A command can exceed a limit between two
// measurements. disk_watch limits disk space.
//
// Thread: all functions from any thread; `terminate` and the observer are called on the watchdog's threads.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "memory_reserve.hpp"
#include "memory_verdict.hpp"

namespace bubblewrap {

// Memory of a process and all its descendants, with shared pages counted once, and the kernel's memory for the files in
// the sandbox's /tmp and /dev/shm; scratch: also in /workspace. Exact only above `enough`; below that, an upper bound
// that is cheaper to compute.
std::uint64_t total_memory(pid_t leader, std::uint64_t enough, bool scratch = false);
// The estimate by which commands without a control group are compared: it also includes the content of these files and
// all memory that the kernel may allocate for sockets and pipes.
std::uint64_t estimated_memory(pid_t leader, bool scratch);

struct watched_command {
  pid_t leader = -1;
  std::uint64_t memory_bytes = 0;  // 0: no limit
  std::function<void()> terminate{};  // must not block; called at most once
  // The memory that the command's control group reports; nullopt: unknown. Empty: the command has no group.
  std::function<std::optional<std::uint64_t>()> charged{};
  std::string account{};  // empty: the command is not counted together with others
  bool scratch = false;  // its /workspace is in memory
};

class watchdog {
 public:
  // Called with the machine's memory, after each measurement while commands run. [its thread]
  using memory_observer = std::function<void(const memory_state&)>;

  watchdog() : watchdog(memory_reserve(0)) {}
  explicit watchdog(const memory_reserve& reserve, memory_observer observe = {})
      : reserve_(reserve), observe_(std::move(observe)) {}
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  void add(const void* key, watched_command command);
  memory_verdict verdict_on(const void* key) const;
  // After it returns, `terminate` is no longer called.
  void remove(const void* key);

 private:
  using clock = std::chrono::steady_clock;
  struct entry {
    watched_command command;
    // Protected by mutex_.
    memory_verdict outcome = memory_verdict::none;
    clock::time_point terminated_at{};
  };
  using entry_list = std::vector<std::pair<const void*, std::shared_ptr<entry>>>;

  // Calls `check` after each interval in which there are commands, until the destructor runs.
  void run_each_interval(const std::function<void(const entry_list&)>& check);
  void check_limits(const entry_list& commands);
  void check_machine(const entry_list& commands);
  entry_list running_commands(const entry_list& commands, clock::time_point& last_termination) const;
  void terminate(const void* key, const std::shared_ptr<entry>& e, memory_verdict why);

  const memory_reserve reserve_;
  const memory_observer observe_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<const void*, std::shared_ptr<entry>> entries_;
  bool stopping_ = false;
  std::thread limits_thread_, machine_thread_;
};

}  // namespace bubblewrap

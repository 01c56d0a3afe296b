// Ends commands that use too much memory. The kernel limits single processes; the watchdog adds up the memory of all
// processes of a command ten times a second and ends a command that exceeds its limit. It also keeps the machine's
// reserve (memory_reserve): below it, it ends the largest command of the account whose commands use most, one after the
// other until enough memory is available. A command can exceed a limit between two measurements. disk_watch limits disk
// space.
//
// Thread: all functions from any thread; `end` and the observer are called on the watchdog's own threads.
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

#include "memory_end.hpp"
#include "memory_reserve.hpp"

namespace bubblewrap {

// Memory of a process and all its descendants, with shared pages counted once, and the kernel's memory for the files in a
// sandbox's /tmp and /dev/shm; scratch: also in /workspace. Exact only above `enough`; below that a cheaper figure that is never
// too small.
std::uint64_t memory_of_all(pid_t leader, std::uint64_t enough, bool scratch = false);
// The estimate by which commands without a control group are compared: also the content of these files and all memory that the
// kernel can keep for sockets and pipes.
std::uint64_t memory_with_files(pid_t leader, bool scratch);

struct watched_command {
  pid_t leader = -1;
  std::uint64_t memory_bytes = 0;  // 0: not watched
  std::function<void()> end{};  // quick; called at most once
  // Memory by the command's control group; nullopt: unknown. Empty: it has none.
  std::function<std::optional<std::uint64_t>()> charged{};
  std::string account{};  // empty: counts by itself
  bool scratch = false;  // its /workspace is in memory
};

class watchdog {
 public:
  // The machine's memory, after each measurement while commands run. [its thread]
  using memory_observer = std::function<void(const memory_state&)>;

  watchdog() : watchdog(memory_reserve(0)) {}
  explicit watchdog(const memory_reserve& reserve, memory_observer observe = {})
      : reserve_(reserve), observe_(std::move(observe)) {}
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  void add(const void* key, watched_command command);
  memory_end verdict_on(const void* key) const;
  // After it returns, `end` is not called any more.
  void remove(const void* key);

 private:
  using clock = std::chrono::steady_clock;
  struct entry {
    watched_command command;
    // Guarded by mutex_.
    memory_end outcome = memory_end::none;
    clock::time_point ended_at{};
  };
  using entry_list = std::vector<std::pair<const void*, std::shared_ptr<entry>>>;

  // Calls `look` after each interval in which there are commands, until the end.
  void each_interval(const std::function<void(const entry_list&)>& look);
  void check_limits(const entry_list& commands);
  void check_machine(const entry_list& commands);
  entry_list without_ended(const entry_list& commands, clock::time_point& last_end) const;
  void condemn(const void* key, const std::shared_ptr<entry>& e, memory_end why);

  const memory_reserve reserve_;
  const memory_observer observe_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<const void*, std::shared_ptr<entry>> entries_;
  bool ending_ = false;
  std::thread commands_, machine_;
};

}  // namespace bubblewrap

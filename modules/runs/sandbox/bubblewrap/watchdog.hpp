// Bounds that the kernel does not hold for a sandbox as a whole: the memory of all its processes
// together and the size of the workspace. Looks at them again and again while commands run, and ends the
// command that went over. What is used between two looks can exceed a bound.
//
// Thread: all functions from any thread; `end` is called on the watchdog's own. The workspace is
// measured about every second, less often when that takes long.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "workspace.hpp"

namespace bubblewrap {

// Memory of a process and all its descendants, pages that several of them share counted once, and of a
// sandbox what the kernel keeps for its files in /tmp and /dev/shm. Exact only over `enough`; below that
// a cheaper figure, never too small.
std::uint64_t memory_of_all(pid_t leader, std::uint64_t enough);

enum class verdict { none, memory, disk, cache };

struct watched_command {
  pid_t leader = -1;
  std::uint64_t memory_bytes = 0;  // 0: not watched
  unique_fd workspace;             // none: not watched
  std::string project;
  std::function<void()> end;  // quick; may be called once
  unique_fd cache{};          // none: not watched
  std::uint64_t cache_bytes = 0;
};

class watchdog {
 public:
  // What was larger when first seen may stay so, but must not grow.
  explicit watchdog(std::uint64_t workspace_bytes) : workspace_bytes_(workspace_bytes) {}
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  void add(const void* key, watched_command command);
  verdict verdict_on(const void* key) const;
  // After it returned `end` is not called any more.
  void remove(const void* key);

 private:
  using clock = std::chrono::steady_clock;
  struct entry {
    watched_command command;
    verdict outcome = verdict::none;
    clock::time_point next_measure{}, next_cache_measure{};
    std::uint64_t first_bytes = 0;
    bool measured = false;
  };

  void run();
  bool disk_is_over(entry& e);
  static bool cache_is_over(entry& e);
  void condemn(const void* key, const std::shared_ptr<entry>& e, verdict why);

  const std::uint64_t workspace_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<const void*, std::shared_ptr<entry>> entries_;
  std::map<std::string, std::uint64_t> ceilings_;  // of the projects; the thread's own
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace bubblewrap

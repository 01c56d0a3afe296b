// Bounds that the kernel does not hold for a sandbox as a whole: the memory of all its processes
// together. Looks at it again and again while commands run, and ends the command that went over. What is used between
// two looks can exceed a bound. Disk space is disk_watch's.
//
// Thread: all functions from any thread; `end` is called on the watchdog's own.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace bubblewrap {

// Memory of a process and all its descendants, pages that several of them share counted once, and of a
// sandbox what the kernel keeps for its files in /tmp and /dev/shm. Exact only over `enough`; below that
// a cheaper figure, never too small.
std::uint64_t memory_of_all(pid_t leader, std::uint64_t enough);

enum class verdict { none, memory };

struct watched_command {
  pid_t leader = -1;
  std::uint64_t memory_bytes = 0;  // 0: not watched
  std::function<void()> end;  // quick; may be called once
};

class watchdog {
 public:
  watchdog() = default;
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
  };

  void run();
  void condemn(const void* key, const std::shared_ptr<entry>& e, verdict why);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<const void*, std::shared_ptr<entry>> entries_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace bubblewrap

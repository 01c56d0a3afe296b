#include "watchdog.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <utility>
#include <vector>

#include "processes.hpp"

namespace bubblewrap {
namespace {

constexpr auto interval = std::chrono::milliseconds(100);

std::uint64_t resident_bytes(pid_t id) {
  std::ifstream in("/proc/" + std::to_string(id) + "/statm");
  std::uint64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Each page divided by how many processes share it.
std::uint64_t proportional_bytes(pid_t id) {
  const std::string text = text_of("/proc/" + std::to_string(id) + "/smaps_rollup");
  const std::size_t at = text.find("\nPss:");
  if (at == std::string::npos) return resident_bytes(id);  // not ours to look at, or just ended
  const std::size_t digit = text.find_first_of("0123456789", at);
  std::uint64_t kib = 0;
  if (digit != std::string::npos)
    std::from_chars(text.data() + digit, text.data() + text.size(), kib);
  return kib << 10;
}

// What the files in a sandbox's memory file systems cost the kernel beside their contents, which are
// bounded: an empty one is not free. A sandbox's are those that are not the host's.
std::uint64_t files_in_memory(const std::vector<pid_t>& family) {
  constexpr std::uint64_t bytes_per_file = 1024;
  for (pid_t id : family) {
    const std::string root = "/proc/" + std::to_string(id) + "/root";
    struct stat ours {}, its {};
    if (::stat("/", &ours) != 0 || ::stat((root + "/").c_str(), &its) != 0) continue;
    if (ours.st_dev == its.st_dev && ours.st_ino == its.st_ino) continue;  // bwrap itself
    std::uint64_t files = 0;
    for (const std::string path : {"/tmp", "/dev/shm"}) {
      struct statfs use {};
      if (::statfs((root + path).c_str(), &use) != 0 || use.f_type != TMPFS_MAGIC) continue;
      if (::stat((root + path).c_str(), &its) != 0) continue;
      if (::stat(path.c_str(), &ours) == 0 && ours.st_dev == its.st_dev) continue;
      files += use.f_files - use.f_ffree;
    }
    return files * bytes_per_file;
  }
  return 0;
}

std::uint64_t memory_of(const std::vector<pid_t>& family, std::uint64_t enough) {
  const std::uint64_t files = files_in_memory(family);
  std::uint64_t sum = files;
  for (pid_t id : family) sum += resident_bytes(id);
  if (sum <= enough) return sum;
  sum = files;
  for (pid_t id : family) sum += proportional_bytes(id);
  return sum;
}

}  // namespace

std::uint64_t memory_of_all(pid_t leader, std::uint64_t enough) {
  return memory_of(family_of(leader, all_processes()), enough);
}

watchdog::~watchdog() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void watchdog::add(const void* key, watched_command command) {
  auto e = std::make_shared<entry>();
  e->command = std::move(command);
  std::lock_guard lock(mutex_);
  entries_.emplace(key, std::move(e));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  // With an entry before this one the thread is not asleep for longer than the interval.
  if (entries_.size() == 1) changed_.notify_all();
}

verdict watchdog::verdict_on(const void* key) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? verdict::none : found->second->outcome;
}

void watchdog::remove(const void* key) {
  std::lock_guard lock(mutex_);
  entries_.erase(key);
}

void watchdog::condemn(const void* key, const std::shared_ptr<entry>& e, verdict why) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second != e || e->outcome != verdict::none) return;
  e->outcome = why;
  e->command.end();
}

void watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, interval, [this] { return ending_; });
    const std::vector<std::pair<const void*, std::shared_ptr<entry>>> now(entries_.begin(), entries_.end());
    lock.unlock();
    const std::vector<process> all = all_processes();
    for (const auto& [key, e] : now) {
      const std::uint64_t most = e->command.memory_bytes;
      if (most != 0 && memory_of(family_of(e->command.leader, all), most) > most)
        condemn(key, e, verdict::memory);
    }
    lock.lock();
  }
}

}  // namespace bubblewrap

#include "watchdog.hpp"

#include <dirent.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "contents.hpp"

namespace bubblewrap {
namespace {

constexpr auto interval = std::chrono::milliseconds(100);

// Not by iterators: the file of a process that ends meanwhile cannot be read, and they would throw.
std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

struct process {
  pid_t id, parent;
};

std::vector<process> all_processes() {
  std::vector<process> out;
  std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), &::closedir);
  while (const dirent* item = proc ? ::readdir(proc.get()) : nullptr) {
    pid_t id = 0;
    const char* end = item->d_name + std::strlen(item->d_name);
    if (std::from_chars(item->d_name, end, id).ptr != end) continue;
    const std::string stat = text_of("/proc/" + std::string(item->d_name) + "/stat");
    // "id (name) state parent ...": the name may contain anything.
    const std::size_t at = stat.rfind(')');
    if (at == std::string::npos || stat.size() < at + 5) continue;
    pid_t parent = 0;
    std::from_chars(stat.data() + at + 4, stat.data() + stat.size(), parent);
    out.push_back({id, parent});
  }
  return out;
}

std::vector<pid_t> family_of(pid_t leader, const std::vector<process>& all) {
  std::vector<pid_t> out{leader};
  for (std::size_t i = 0; i < out.size(); ++i)
    for (const process& p : all)
      if (p.parent == out[i] && p.id != leader) out.push_back(p.id);
  return out;
}

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

bool watchdog::disk_is_over(entry& e) {
  const auto begun = clock::now();
  if (begun < e.next_measure) return false;
  disk::tree_use use;
  if (measure(e.command.workspace.get(), {}, use)) return false;
  e.next_measure = begun + std::max<clock::duration>(std::chrono::seconds(1), 20 * (clock::now() - begun));
  if (use.too_deep) return true;
  if (!std::exchange(e.measured, true)) e.first_bytes = use.bytes;
  const std::uint64_t may = std::max(workspace_bytes_, use.bytes);
  auto& ceiling = ceilings_.try_emplace(e.command.project, may).first->second;
  ceiling = std::min(ceiling, may);
  // Whoever makes room is let alone, as long as that room is not being filled faster.
  return use.bytes > ceiling && (use.bytes > e.first_bytes || use.bytes > 2 * ceiling);
}

bool watchdog::cache_is_over(entry& e) {
  const auto begun = clock::now();
  if (begun < e.next_cache_measure) return false;
  disk::tree_use use;
  if (measure(e.command.cache.get(), {}, use)) return false;
  e.next_cache_measure = begun + std::max<clock::duration>(std::chrono::seconds(1), 20 * (clock::now() - begun));
  return use.too_deep || use.bytes > e.command.cache_bytes;
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
      else if (e->command.workspace && disk_is_over(*e))
        condemn(key, e, verdict::disk);
      else if (e->command.cache && cache_is_over(*e))
        condemn(key, e, verdict::cache);
    }
    lock.lock();
  }
}

}  // namespace bubblewrap

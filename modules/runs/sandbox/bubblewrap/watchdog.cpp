#include "watchdog.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "processes.hpp"

namespace bubblewrap {
namespace {

constexpr auto interval = std::chrono::milliseconds(100);
// The kernel needs some time to free the memory of an ended command. Until its exit, but no longer than this, no further command
// is ended for the reserve.
constexpr auto longest_exit = std::chrono::milliseconds(1000), longest_urgent_exit = std::chrono::milliseconds(300);
// Ending a command of an account that holds less than this part of the reserve would hardly help, so it is spared until half of
// the reserve is used up.
constexpr std::uint64_t least_part = 8;

std::uint64_t resident_bytes(pid_t id) {
  std::ifstream in("/proc/" + std::to_string(id) + "/statm");
  std::uint64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The process's share: each page divided by the number of processes that share it.
std::uint64_t proportional_bytes(pid_t id) {
  const std::string text = text_of("/proc/" + std::to_string(id) + "/smaps_rollup");
  const std::size_t at = text.find("\nPss:");
  if (at == std::string::npos) return resident_bytes(id);  // unreadable for this user, or just ended
  const std::size_t digit = text.find_first_of("0123456789", at);
  std::uint64_t kib = 0;
  if (digit != std::string::npos) std::from_chars(text.data() + digit, text.data() + text.size(), kib);
  return kib << 10;
}

struct memory_files {
  std::uint64_t kernel = 0;  // for the inodes, which the size limits of the file systems do not include
  std::uint64_t content = 0;
};

// The memory file systems of a sandbox. A file system that also exists on the host is not the sandbox's; without
// scratch, neither is the workspace.
memory_files files_in_memory(const std::vector<pid_t>& family, bool scratch) {
  constexpr std::uint64_t bytes_per_file = 1024;
  for (pid_t id : family) {
    const std::string root = "/proc/" + std::to_string(id) + "/root";
    struct stat ours {
    }, its{};
    if (::stat("/", &ours) != 0 || ::stat((root + "/").c_str(), &its) != 0) continue;
    if (ours.st_dev == its.st_dev && ours.st_ino == its.st_ino) continue;  // bwrap itself
    memory_files out;
    for (const std::string path : {"/tmp", "/dev/shm", "/workspace"}) {
      struct statfs use {};
      if (path == "/workspace" && !scratch) continue;
      if (::statfs((root + path).c_str(), &use) != 0 || use.f_type != TMPFS_MAGIC) continue;
      if (::stat((root + path).c_str(), &its) != 0) continue;
      if (::stat(path.c_str(), &ours) == 0 && ours.st_dev == its.st_dev) continue;
      out.kernel += (use.f_files - use.f_ffree) * bytes_per_file;
      out.content += (use.f_blocks - use.f_bfree) * static_cast<std::uint64_t>(use.f_bsize);
    }
    return out;
  }
  return {};
}

std::uint64_t memory_of(const std::vector<pid_t>& family, std::uint64_t enough, bool scratch) {
  const std::uint64_t files = files_in_memory(family, scratch).kernel;
  std::uint64_t sum = files;
  for (pid_t id : family) sum += resident_bytes(id);
  if (sum <= enough) return sum;
  sum = files;
  for (pid_t id : family) sum += proportional_bytes(id);
  return sum;
}

// An estimate for comparisons between commands: kernel memory cannot be measured without a control group, so each socket and
// pipe counts as if it were full.
std::uint64_t memory_with_kernel(const std::vector<pid_t>& family, bool scratch) {
  return memory_of(family, UINT64_MAX, scratch) + files_in_memory(family, scratch).content +
         kernel_memory_bound(family);
}

}  // namespace

std::uint64_t memory_of_all(pid_t leader, std::uint64_t enough, bool scratch) {
  return memory_of(family_of(leader, all_processes()), enough, scratch);
}

std::uint64_t memory_with_files(pid_t leader, bool scratch) {
  return memory_with_kernel(family_of(leader, all_processes()), scratch);
}

watchdog::~watchdog() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  for (std::thread* each : {&commands_, &machine_})
    if (each->joinable()) each->join();
}

void watchdog::add(const void* key, watched_command command) {
  auto e = std::make_shared<entry>();
  e->command = std::move(command);
  std::lock_guard lock(mutex_);
  entries_.emplace(key, std::move(e));
  if (!commands_.joinable())
    commands_ = std::thread([this] { each_interval([this](const entry_list& all) { check_limits(all); }); });
  if (reserve_.enabled() && !machine_.joinable())
    machine_ = std::thread([this] { each_interval([this](const entry_list& all) { check_machine(all); }); });
  // With an earlier entry the threads sleep no longer than the interval.
  if (entries_.size() == 1) changed_.notify_all();
}

memory_end watchdog::verdict_on(const void* key) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? memory_end::none : found->second->outcome;
}

void watchdog::remove(const void* key) {
  std::lock_guard lock(mutex_);
  entries_.erase(key);
}

void watchdog::condemn(const void* key, const std::shared_ptr<entry>& e, memory_end why) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second != e || e->outcome != memory_end::none) return;
  e->outcome = why;
  e->ended_at = clock::now();
  e->command.end();
}

void watchdog::each_interval(const std::function<void(const entry_list&)>& look) {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, interval, [this] { return ending_; });
    if (ending_) return;
    const entry_list now(entries_.begin(), entries_.end());
    lock.unlock();
    look(now);
    lock.lock();
  }
}

void watchdog::check_limits(const entry_list& commands) {
  const std::vector<process> all = all_processes();
  for (const auto& [key, e] : commands) {
    const std::uint64_t most = e->command.memory_bytes;
    if (most != 0 && memory_of(family_of(e->command.leader, all), most, e->command.scratch) > most)
      condemn(key, e, memory_end::command);
  }
}

void watchdog::check_machine(const entry_list& commands) {
  const memory_state now = reserve_.look();
  if (observe_) observe_(now);
  if (now.enough) return;
  clock::time_point last_end{};
  const entry_list running = without_ended(commands, last_end);
  if (running.size() != commands.size() && clock::now() - last_end < (now.urgent ? longest_urgent_exit : longest_exit))
    return;
  const std::vector<process> all = all_processes();
  struct account {
    std::uint64_t bytes = 0, most = 0;
    const entry_list::value_type* largest = nullptr;
  };
  // A command without an account counts by itself.
  std::map<std::pair<std::string, const void*>, account> accounts;
  for (const auto& each : running) {
    const watched_command& c = each.second->command;
    const std::optional<std::uint64_t> charged = c.charged ? c.charged() : std::nullopt;
    const std::uint64_t bytes = charged ? *charged : memory_with_kernel(family_of(c.leader, all), c.scratch);
    account& of = accounts[{c.account, c.account.empty() ? each.first : nullptr}];
    of.bytes += bytes;
    if (of.largest != nullptr && bytes < of.most) continue;
    of.most = bytes;
    of.largest = &each;
  }
  if (accounts.empty()) return;
  const account& most = std::max_element(accounts.begin(), accounts.end(), [](const auto& a, const auto& b) {
                          return a.second.bytes < b.second.bytes;
                        })->second;
  if (now.urgent || most.bytes >= reserve_.bytes() / least_part)
    condemn(most.largest->first, most.largest->second, memory_end::node);
}

watchdog::entry_list watchdog::without_ended(const entry_list& commands, clock::time_point& last_end) const {
  std::lock_guard lock(mutex_);
  entry_list out;
  for (const auto& each : commands) {
    if (each.second->outcome == memory_end::none)
      out.push_back(each);
    else
      last_end = std::max(last_end, each.second->ended_at);
  }
  return out;
}

}  // namespace bubblewrap

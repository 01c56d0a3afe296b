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
// The kernel needs some time to free the memory of a terminated command. Until its exit, but no longer than this, no
// further command is terminated for the reserve.
constexpr auto max_exit_time = std::chrono::milliseconds(1000), max_urgent_exit_time = std::chrono::milliseconds(300);
// Terminating a command of an account that uses less than reserve / min_account_part would hardly help, so it continues
// until half of the reserve is used up.
constexpr std::uint64_t min_account_part = 8;

std::uint64_t resident_bytes(pid_t id) {
  std::ifstream in("/proc/" + std::to_string(id) + "/statm");
  std::uint64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The proportional set size (PSS) of the process: each page divided by the number of processes that share it.
std::uint64_t proportional_bytes(pid_t id) {
  const std::string text = read_proc_file("/proc/" + std::to_string(id) + "/smaps_rollup");
  const std::size_t at = text.find("\nPss:");
  if (at == std::string::npos) return resident_bytes(id);  // this user may not read it, or the process has just exited
  const std::size_t digit = text.find_first_of("0123456789", at);
  std::uint64_t kib = 0;
  if (digit != std::string::npos) std::from_chars(text.data() + digit, text.data() + text.size(), kib);
  return kib << 10;
}

struct memory_files {
  std::uint64_t kernel = 0;  // memory for inodes, which the size limits of the file systems do not include
  std::uint64_t content = 0;
};

// The usage of the sandbox's memory file systems. A file system that also exists on the host does not belong to the
// sandbox; without scratch, neither does the workspace.
memory_files files_in_memory(const std::vector<pid_t>& tree, bool scratch) {
  constexpr std::uint64_t bytes_per_file = 1024;
  for (pid_t id : tree) {
    const std::string root = "/proc/" + std::to_string(id) + "/root";
    struct stat host {
    }, sandbox{};
    if (::stat("/", &host) != 0 || ::stat((root + "/").c_str(), &sandbox) != 0) continue;
    if (host.st_dev == sandbox.st_dev && host.st_ino == sandbox.st_ino)
      continue;  // a process of bwrap outside the sandbox
    memory_files out;
    for (const std::string path : {"/tmp", "/dev/shm", "/workspace"}) {
      struct statfs use {};
      if (path == "/workspace" && !scratch) continue;
      if (::statfs((root + path).c_str(), &use) != 0 || use.f_type != TMPFS_MAGIC) continue;
      if (::stat((root + path).c_str(), &sandbox) != 0) continue;
      if (::stat(path.c_str(), &host) == 0 && host.st_dev == sandbox.st_dev) continue;
      out.kernel += (use.f_files - use.f_ffree) * bytes_per_file;
      out.content += (use.f_blocks - use.f_bfree) * static_cast<std::uint64_t>(use.f_bsize);
    }
    return out;
  }
  return {};
}

std::uint64_t memory_of(const std::vector<pid_t>& tree, std::uint64_t enough, bool scratch) {
  const std::uint64_t files = files_in_memory(tree, scratch).kernel;
  std::uint64_t sum = files;
  for (pid_t id : tree) sum += resident_bytes(id);
  if (sum <= enough) return sum;
  sum = files;
  for (pid_t id : tree) sum += proportional_bytes(id);
  return sum;
}

// An estimate for comparisons between commands: kernel memory cannot be measured without a control group, so each
// socket and pipe counts as if it were full.
std::uint64_t estimated_tree_memory(const std::vector<pid_t>& tree, bool scratch) {
  return memory_of(tree, UINT64_MAX, scratch) + files_in_memory(tree, scratch).content + kernel_memory_bound(tree);
}

}  // namespace

std::uint64_t total_memory(pid_t leader, std::uint64_t enough, bool scratch) {
  return memory_of(process_tree(leader, all_processes()), enough, scratch);
}

std::uint64_t estimated_memory(pid_t leader, bool scratch) {
  return estimated_tree_memory(process_tree(leader, all_processes()), scratch);
}

watchdog::~watchdog() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread* each : {&limits_thread_, &machine_thread_})
    if (each->joinable()) each->join();
}

void watchdog::add(const void* key, watched_command command) {
  auto e = std::make_shared<entry>();
  e->command = std::move(command);
  std::lock_guard lock(mutex_);
  entries_.emplace(key, std::move(e));
  if (!limits_thread_.joinable())
    limits_thread_ = std::thread([this] { run_each_interval([this](const entry_list& all) { check_limits(all); }); });
  if (reserve_.enabled() && !machine_thread_.joinable())
    machine_thread_ = std::thread([this] { run_each_interval([this](const entry_list& all) { check_machine(all); }); });
  // If there were entries before, the threads sleep no longer than the interval and need no notification.
  if (entries_.size() == 1) changed_.notify_all();
}

memory_verdict watchdog::verdict_on(const void* key) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? memory_verdict::none : found->second->outcome;
}

void watchdog::remove(const void* key) {
  std::lock_guard lock(mutex_);
  entries_.erase(key);
}

void watchdog::terminate(const void* key, const std::shared_ptr<entry>& e, memory_verdict why) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second != e || e->outcome != memory_verdict::none) return;
  e->outcome = why;
  e->terminated_at = clock::now();
  e->command.terminate();
}

void watchdog::run_each_interval(const std::function<void(const entry_list&)>& check) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, interval, [this] { return stopping_; });
    if (stopping_) return;
    const entry_list now(entries_.begin(), entries_.end());
    lock.unlock();
    check(now);
    lock.lock();
  }
}

void watchdog::check_limits(const entry_list& commands) {
  const std::vector<process> all = all_processes();
  for (const auto& [key, e] : commands) {
    const std::uint64_t limit = e->command.memory_bytes;
    if (limit != 0 && memory_of(process_tree(e->command.leader, all), limit, e->command.scratch) > limit)
      terminate(key, e, memory_verdict::command);
  }
}

void watchdog::check_machine(const entry_list& commands) {
  const memory_state now = reserve_.current_state();
  if (observe_) observe_(now);
  if (now.enough) return;
  clock::time_point last_termination{};
  const entry_list running = running_commands(commands, last_termination);
  if (running.size() != commands.size() &&
      clock::now() - last_termination < (now.urgent ? max_urgent_exit_time : max_exit_time))
    return;
  const std::vector<process> all = all_processes();
  struct account {
    std::uint64_t bytes = 0, largest_bytes = 0;
    const entry_list::value_type* largest = nullptr;
  };
  // A command without an account is not counted together with others.
  std::map<std::pair<std::string, const void*>, account> accounts;
  for (const auto& each : running) {
    const watched_command& c = each.second->command;
    const std::optional<std::uint64_t> charged = c.charged ? c.charged() : std::nullopt;
    const std::uint64_t bytes = charged ? *charged : estimated_tree_memory(process_tree(c.leader, all), c.scratch);
    account& of = accounts[{c.account, c.account.empty() ? each.first : nullptr}];
    of.bytes += bytes;
    if (of.largest != nullptr && bytes < of.largest_bytes) continue;
    of.largest_bytes = bytes;
    of.largest = &each;
  }
  if (accounts.empty()) return;
  const account& largest_account = std::max_element(accounts.begin(), accounts.end(), [](const auto& a, const auto& b) {
                                     return a.second.bytes < b.second.bytes;
                                   })->second;
  if (now.urgent || largest_account.bytes >= reserve_.bytes() / min_account_part)
    terminate(largest_account.largest->first, largest_account.largest->second, memory_verdict::node);
}

watchdog::entry_list watchdog::running_commands(const entry_list& commands, clock::time_point& last_termination) const {
  std::lock_guard lock(mutex_);
  entry_list out;
  for (const auto& each : commands) {
    if (each.second->outcome == memory_verdict::none)
      out.push_back(each);
    else
      last_termination = std::max(last_termination, each.second->terminated_at);
  }
  return out;
}

}  // namespace bubblewrap

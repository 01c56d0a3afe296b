#include "disk_watch.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "contents.hpp"
#include "processes.hpp"
#include "without_protection.hpp"

namespace bubblewrap {
namespace {

using namespace std::chrono_literals;

constexpr auto check_interval = 100ms;
constexpr auto min_walk_pause = 1s, max_walk_pause = 3s;
constexpr auto min_unlinked_pause = 500ms;
constexpr auto max_unlinked_pause = 3s;
// The pause between two commands that are terminated for the reserve, so that the space of the first one is free before
// the second one is chosen. If half of the reserve is used up and the free space still shrinks, there is no pause.
constexpr auto termination_interval = 300ms;
// Divisors of the reserve: below reserve / urgent_part, all commands of one account are terminated together; below
// reserve / last_part, those of all accounts.
constexpr std::uint64_t urgent_part = 2, last_part = 8;
constexpr std::uint64_t min_free_inodes = 20'000;
constexpr std::size_t max_projects = 10'000;
// A workspace that exceeds twice its limit by more than this tolerance is emptied.
constexpr std::uint64_t tolerance_bytes = 64 << 20, tolerance_entries = 1000;
// Maximum number of entries that writing one file adds, with its directories: a path has at most 4000 bytes.
constexpr std::uint64_t max_new_entries = 256;

}  // namespace

disk_watch::~disk_watch() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread* each : {&space_thread_, &files_thread_, &walk_thread_})
    if (each->joinable()) each->join();
}

disk_watch::space disk_watch::free_space() const {
  if (read_) return read_();
  struct statvfs s {};
  if (directory_.empty() || ::statvfs(directory_.c_str(), &s) != 0) return {};
  space out;
  out.bytes = static_cast<std::uint64_t>(s.f_bavail) * s.f_frsize;
  // f_files is 0 on file systems without a fixed number of inodes.
  const bool inodes = s.f_files == 0 || s.f_favail >= min_free_inodes;
  out.enough = reserve_bytes_ == 0 || (out.bytes >= reserve_bytes_ && inodes);
  return out;
}

void disk_watch::add(const void* key, disk_command command) {
  auto e = std::make_shared<entry>();
  e->command = std::move(command);
  e->free_at_walk = free_space().bytes;
  std::lock_guard lock(mutex_);
  if (const auto known = projects_.find(e->command.project); known != projects_.end() && e->command.workspace)
    e->first = known->second.use, e->tolerated = known->second.tolerated;
  entries_.emplace(key, std::move(e));
  if (!space_thread_.joinable())
    space_thread_ = std::thread([this] { run_each_interval([this](const auto& all) { check_space(all); }); });
  if (!files_thread_.joinable())
    files_thread_ = std::thread([this] { run_each_interval([this](const auto& all) { check_commands(all); }); });
  if (!walk_thread_.joinable()) walk_thread_ = std::thread([this] { walk_loop(); });
  changed_.notify_all();
}

bool disk_watch::is_over(const entry& e) const {
  std::lock_guard lock(mutex_);
  return e.outcome != disk_verdict::none;
}

disk_verdict disk_watch::verdict_on(const void* key) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? disk_verdict::none : found->second->outcome;
}

void disk_watch::remove(const void* key) {
  std::lock_guard lock(mutex_);
  entries_.erase(key);
}

void disk_watch::record_write(const std::string& project, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto known = projects_.find(project);
  if (known == projects_.end()) return;
  known->second.use.bytes += bytes + max_new_entries * 4096;
  known->second.use.entries += max_new_entries;
}

std::string disk_watch::account_of(const std::string& project) const {
  std::lock_guard lock(mutex_);
  const auto known = projects_.find(project);
  return known == projects_.end() || known->second.account.empty() ? project : known->second.account;
}

void disk_watch::forget(const std::string& project) {
  std::lock_guard lock(mutex_);
  projects_.erase(project);
}

void disk_watch::terminate(const void* key, const entry_ptr& e, disk_verdict why) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second != e || e->outcome != disk_verdict::none) return;
  e->outcome = why;
  if (e->command.terminate) e->command.terminate();
}

disk_verdict disk_watch::walk(entry& e) {
  std::lock_guard measuring(e.measuring);
  disk_verdict out = disk_verdict::none;
  if (e.command.workspace) {
    const disk::tree_use* first = e.first ? &*e.first : nullptr;
    std::uint64_t unlinked = 0;
    {
      std::lock_guard lock(mutex_);
      unlinked = e.unlinked;
    }
    // A walk can stop above these limits, because the command is then over its limit and the exact size does not
    // matter. The first walk has no limits.
    disk::tree_limits walk_limits;
    if (first != nullptr)
      walk_limits = {std::max(e.command.max_bytes, first->bytes), std::max(e.command.max_files, first->entries)};
    const std::uint64_t free_before = free_space().bytes;
    disk::tree_use use;
    if (measure(e.command.workspace.get(), walk_limits, use)) return out;
    if (!e.first) e.first = use;
    const std::uint64_t allowed_bytes = std::max(e.command.max_bytes, e.first->bytes);
    const std::uint64_t allowed_files = std::max(e.command.max_files, e.first->entries);
    if (use.too_deep)
      out = disk_verdict::depth;
    else if (use.bytes > allowed_bytes || unlinked > allowed_bytes - std::min(allowed_bytes, use.bytes))
      out = disk_verdict::bytes;
    else if (use.entries > allowed_files)
      out = disk_verdict::files;
    std::lock_guard lock(mutex_);
    e.last = use;
    e.grown = use.bytes - std::min(use.bytes, e.first->bytes);
    e.free_at_walk = free_before;
  }
  if (out == disk_verdict::none && e.command.cache) {
    disk::tree_use use;
    if (measure(e.command.cache.get(), {e.command.cache_bytes, e.command.max_files}, use)) return out;
    std::lock_guard lock(mutex_);
    if (use.too_deep || use.partial ||
        e.unlinked_cache > e.command.cache_bytes - std::min(e.command.cache_bytes, use.bytes))
      out = disk_verdict::cache;
  }
  return out;
}

disk_verdict disk_watch::final_measurement(const void* key, disk::tree_use& use) {
  entry_ptr e;
  {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return disk_verdict::none;
    e = found->second;
    e->unlinked = e->unlinked_cache = 0;  // the processes that kept deleted files open have exited
  }
  bool measured = false;
  {
    std::lock_guard measuring(e->measuring);
    measured = e->first.has_value();
  }
  disk_verdict now = walk(*e);
  if (e->command.workspace) {
    const int workspace = e->command.workspace.get();
    disk::tree_use complete;
    {
      std::lock_guard lock(mutex_);
      complete = e->last;
    }
    // A walk stops above a limit. The next command may keep all existing files, so the complete size is needed.
    bool counted = !complete.partial || !measure(workspace, {}, complete);
    bool trimmed = false;
    if (complete.too_deep && !trim_deep(workspace, trimmed)) {
      if (now == disk_verdict::none) now = disk_verdict::depth;
      counted = !measure(workspace, {}, complete);
    }
    std::lock_guard lock(mutex_);
    if (counted) e->last = complete;
    use = e->last;
    if (e->outcome == disk_verdict::none) e->outcome = now;
    record_end(*e, use, measured);
  }
  std::lock_guard lock(mutex_);
  if (e->outcome == disk_verdict::none) e->outcome = now;
  return e->outcome;
}

// Called with mutex_ locked.
void disk_watch::record_end(entry& e, const disk::tree_use& use, bool measured) {
  struct growth {
    bool any, excessive;
  };
  const auto end_of = [&](std::uint64_t limit, std::uint64_t first, std::uint64_t now, std::uint64_t tolerance,
                          std::uint64_t& tolerated) {
    const std::uint64_t before = std::max(limit, tolerated == UINT64_MAX ? first : tolerated);
    tolerated = std::min(before, std::max(limit, now));
    // The first measurement is the size before the command only if it was made while the command ran.
    return growth{now > (measured ? before : limit), now > before && now - before > before + tolerance};
  };
  const disk::tree_use first = e.first.value_or(use);
  const growth bytes = end_of(e.command.max_bytes, first.bytes, use.bytes, tolerance_bytes, e.tolerated.bytes);
  const growth entries =
      end_of(e.command.max_files, first.entries, use.entries, tolerance_entries, e.tolerated.entries);
  // The size of the workspace decides, not the limit for which the command was terminated. A full cache does not
  // concern the workspace. If the server's disk is nearly full, the workspace must not stay above its limit at all.
  e.far_over =
      ((bytes.excessive || entries.excessive) && e.outcome != disk_verdict::none && e.outcome != disk_verdict::cache) ||
      ((bytes.any || entries.any) && e.outcome == disk_verdict::space);
  if (projects_.size() >= max_projects) projects_.clear();
  projects_[e.command.project] = {use, e.tolerated, e.command.account};
}

bool disk_watch::is_far_over(const void* key) const {
  if (ry_test::without_protection("workspace_growth")) return false;
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second->far_over;
}

void disk_watch::walk_loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto now = clock::now();
    const void* key = nullptr;
    entry_ptr next;
    auto wake = now + min_walk_pause;
    for (const auto& [k, e] : entries_) {
      if (e->outcome != disk_verdict::none || (!e->command.workspace && !e->command.cache)) continue;
      wake = std::min(wake, e->next_walk);
      if (e->next_walk <= now && (!next || e->next_walk < next->next_walk)) {
        next = e;
        key = k;
      }
    }
    if (!next) {
      if (entries_.empty())
        changed_.wait(lock);
      else
        changed_.wait_until(lock, wake);
      continue;
    }
    lock.unlock();
    const disk_verdict found = walk(*next);
    const auto end = clock::now();
    if (found != disk_verdict::none) terminate(key, next, found);
    lock.lock();
    next->next_walk = end + std::clamp<clock::duration>(4 * (end - now), min_walk_pause, max_walk_pause);
    next->may_walk = end + std::clamp<clock::duration>(end - now, check_interval, max_walk_pause);
  }
}

void disk_watch::run_each_interval(const std::function<void(const std::map<const void*, entry_ptr>&)>& check) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, check_interval, [this] { return stopping_; });
    if (stopping_ || entries_.empty()) continue;
    const auto all = entries_;
    lock.unlock();
    check(all);
    lock.lock();
  }
}

void disk_watch::check_space(const std::map<const void*, entry_ptr>& all) {
  const space current = free_space();
  if (observe_ && current.bytes != UINT64_MAX) observe_(current.bytes, current.enough);
  if (!current.enough) terminate_for_space(all, current.bytes);
}

void disk_watch::check_commands(const std::map<const void*, entry_ptr>& all) {
  const auto now = clock::now();
  const space current = free_space();
  std::vector<process> processes;
  std::vector<std::tuple<const void*, entry_ptr, disk_verdict>> over;
  for (const auto& [key, e] : all) {
    if (is_over(*e)) continue;
    if (now >= e->next_unlinked) {
      if (processes.empty()) processes = all_processes();
      const std::vector<pid_t> tree = process_tree(e->command.leader, processes);
      const auto begun = clock::now();
      struct stat workspace {
      }, cache{};
      const bool has_workspace = e->command.workspace && ::fstat(e->command.workspace.get(), &workspace) == 0;
      // If both are on one device, its deleted files count towards the workspace.
      const bool has_cache = e->command.cache && ::fstat(e->command.cache.get(), &cache) == 0 &&
                             (!has_workspace || cache.st_dev != workspace.st_dev);
      const auto unlinked = has_workspace ? unlinked_bytes(tree, workspace.st_dev) : std::optional<std::uint64_t>(0);
      const auto unlinked_cache = has_cache ? unlinked_bytes(tree, cache.st_dev) : std::optional<std::uint64_t>(0);
      if (!unlinked || !unlinked_cache) over.emplace_back(key, e, disk_verdict::uncounted);
      const std::uint64_t written = written_bytes(tree);
      const auto end = clock::now();
      e->next_unlinked = end + std::clamp<clock::duration>(10 * (end - begun), min_unlinked_pause, max_unlinked_pause);
      std::lock_guard lock(mutex_);
      e->unlinked = unlinked.value_or(0);
      e->unlinked_cache = unlinked_cache.value_or(0);
      e->written = std::max(e->written, written);
    }
    std::lock_guard lock(mutex_);
    if (e->command.cache && e->unlinked_cache > e->command.cache_bytes) over.emplace_back(key, e, disk_verdict::cache);
    if (!e->command.workspace || e->command.max_bytes == UINT64_MAX) continue;
    const std::uint64_t taken = e->last.bytes + e->unlinked;
    // No walk is needed if the deleted files alone exceed the limit.
    if (e->unlinked > e->command.max_bytes) over.emplace_back(key, e, disk_verdict::bytes);
    const std::uint64_t room = e->command.max_bytes - std::min(e->command.max_bytes, taken);
    const std::uint64_t lost = e->free_at_walk - std::min(e->free_at_walk, current.bytes);
    if (lost > room / 2 + (1 << 20) && now >= e->may_walk && e->next_walk > now) {
      e->next_walk = now;
      changed_.notify_all();
    }
  }
  for (const auto& [key, e, why] : over) terminate(key, e, why);
}

// Terminates the command that took most space, of the account whose commands took most together; if that is urgent, all
// commands of that account; as the last resort, all commands.
void disk_watch::terminate_for_space(const std::map<const void*, entry_ptr>& all, std::uint64_t free_bytes) {
  const auto now = clock::now();
  const bool urgent = free_bytes < reserve_bytes_ / urgent_part, last = free_bytes < reserve_bytes_ / last_part;
  const bool shrinks = urgent && free_bytes < free_at_termination_;
  if (!last && !shrinks && now < next_termination_) return;
  struct writer {
    const void* key;
    entry_ptr e;
    std::uint64_t taken;
  };
  std::map<std::string, std::vector<writer>> accounts;
  std::vector<process> processes;
  for (const auto& [key, e] : all) {
    if ((!e->command.workspace && !e->command.cache) || is_over(*e)) continue;
    if (processes.empty()) processes = all_processes();
    const std::uint64_t bytes = written_bytes(process_tree(e->command.leader, processes));
    std::lock_guard lock(mutex_);
    e->written = std::max(e->written, bytes);
    accounts[e->command.account].push_back({key, e, std::max(e->written, e->grown + e->unlinked + e->unlinked_cache)});
  }
  if (accounts.empty()) return;
  next_termination_ = now + termination_interval;
  free_at_termination_ = free_bytes;
  const auto sum_of = [](const auto& account) {
    std::uint64_t sum = 0;
    for (const writer& w : account.second) sum += w.taken;
    return sum;
  };
  const auto& largest_account = *std::max_element(accounts.begin(), accounts.end(),
                                                  [&](const auto& a, const auto& b) { return sum_of(a) < sum_of(b); });
  const auto largest = std::max_element(largest_account.second.begin(), largest_account.second.end(),
                                        [](const writer& a, const writer& b) { return a.taken < b.taken; });
  for (const auto& account : accounts)
    for (const writer& w : account.second)
      if (last || (urgent && &account == &largest_account) || w.key == largest->key)
        terminate(w.key, w.e, disk_verdict::space);
}

}  // namespace bubblewrap

#include "tool_list_cache.hpp"

#include <algorithm>

namespace mcp {
namespace {

constexpr std::int64_t failure_backoff_us = 30LL * 1'000'000;
constexpr std::int64_t min_pause_us = 5LL * 1'000'000, max_pause_us = 60LL * 1'000'000;
constexpr std::size_t entry_overhead = 256;  // per entry, in addition to its key and its list

}  // namespace

cached_tools tool_list_cache::look_up(const std::string& key, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  const auto at = by_key_.find(key);
  if (at == by_key_.end()) return {};
  entries_.splice(entries_.begin(), entries_, at->second);
  const auto& e = *at->second;
  return {e.tools, e.tools && e.fresh_until_us > now_us, e.failed_until_us > now_us, e.invalidations};
}

list_change tool_list_cache::store(const std::string& key, const std::string& account, tool_list_ptr tools,
                                   std::int64_t life_us, std::int64_t now_us, std::uint64_t invalidations_seen) {
  std::lock_guard lock(mutex_);
  auto& e = touch(key, account);
  list_change change;
  if (e.tools) change = compare(*e.tools, *tools);
  if (tools->bytes > max_bytes_) {
    remove(entries_.begin());
    return change;
  }
  if (e.tools && e.reported_changed) e.unfounded_reports = change.none() ? e.unfounded_reports + 1 : 0;
  e.tools = std::move(tools);
  e.stored_us = now_us;
  e.reported_changed = e.invalidations != invalidations_seen;
  e.fresh_until_us = now_us + life_us;
  if (e.reported_changed) e.fresh_until_us = std::min(e.fresh_until_us, refresh_due_us(e));
  e.failed_until_us = 0;
  update_size(e);
  evict(account);
  return change;
}

void tool_list_cache::record_failure(const std::string& key, const std::string& account, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  touch(key, account).failed_until_us = now_us + failure_backoff_us;
  evict(account);
}

// When a list that its server reported as changed must be requested again.
std::int64_t tool_list_cache::refresh_due_us(const entry& e) {
  if (e.unfounded_reports == 0) return e.stored_us;
  return e.stored_us + std::min(min_pause_us << std::min(e.unfounded_reports - 1, 10), max_pause_us);
}

void tool_list_cache::invalidate(const std::string& key, const std::string& account, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  auto& e = touch(key, account);
  e.reported_changed = true;
  e.fresh_until_us = std::min(e.fresh_until_us, std::max(now_us, refresh_due_us(e)));
  ++e.invalidations;
  evict(account);
}

std::size_t tool_list_cache::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

// Returns the entry of that key, created if necessary, and marks it as most recently used.
tool_list_cache::entry& tool_list_cache::touch(const std::string& key, const std::string& account) {
  if (const auto at = by_key_.find(key); at != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, at->second);
    return *at->second;
  }
  std::list<entry> created(1);
  created.front().key = key;
  created.front().account = account;
  auto& usage = usage_[account];
  by_key_.emplace(key, created.begin());
  entries_.splice(entries_.begin(), created);
  ++usage.entries;
  update_size(entries_.front());
  return entries_.front();
}

void tool_list_cache::update_size(entry& e) {
  const auto bytes = entry_overhead + 2 * (e.key.size() + e.account.size()) + (e.tools ? e.tools->bytes : 0);
  auto& usage = usage_.at(e.account);
  for (auto* sum : {&bytes_, &usage.bytes}) *sum += bytes - e.bytes;
  e.bytes = bytes;
}

void tool_list_cache::evict(const std::string& account) {
  while (exceeds(bytes_, entries_.size())) {
    auto victim = std::prev(entries_.end());
    const auto usage = usage_.find(account);
    if (usage != usage_.end() && exceeds(4 * usage->second.bytes, 4 * usage->second.entries)) {
      while (victim->account != account) --victim;
    }
    remove(victim);
  }
}

void tool_list_cache::remove(position at) {
  const auto usage = usage_.find(at->account);
  bytes_ -= at->bytes;
  usage->second.bytes -= at->bytes;
  if (--usage->second.entries == 0) usage_.erase(usage);
  by_key_.erase(at->key);
  entries_.erase(at);
}

}  // namespace mcp

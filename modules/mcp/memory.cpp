#include "memory.hpp"

#include <algorithm>

namespace mcp {
namespace {

constexpr std::int64_t backoff_us = 30LL * 1'000'000;
constexpr std::int64_t first_pause_us = 5LL * 1'000'000, longest_pause_us = 60LL * 1'000'000;
constexpr std::size_t overhead = 256;  // per entry, in addition to its key and its list

}  // namespace

remembered tool_memory::look_up(const std::string& key, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  const auto at = by_key_.find(key);
  if (at == by_key_.end()) return {};
  entries_.splice(entries_.begin(), entries_, at->second);
  const auto& e = *at->second;
  return {e.tools, e.tools && e.fresh_until_us > now_us, e.failed_until_us > now_us, e.aged};
}

list_change tool_memory::store(const std::string& key, const std::string& account, tool_list_ptr tools,
                               std::int64_t life_us, std::int64_t now_us, std::uint64_t aged) {
  std::lock_guard lock(mutex_);
  auto& e = touched(key, account);
  list_change change;
  if (e.tools) change = compare(*e.tools, *tools);
  if (tools->bytes > max_bytes_) {
    remove(entries_.begin());
    return change;
  }
  if (e.tools && e.doubted) e.vain = change.none() ? e.vain + 1 : 0;
  e.tools = std::move(tools);
  e.stored_us = now_us;
  e.doubted = e.aged != aged;
  e.fresh_until_us = now_us + life_us;
  if (e.doubted) e.fresh_until_us = std::min(e.fresh_until_us, doubted_from_us(e));
  e.failed_until_us = 0;
  weigh(e);
  make_room(account);
  return change;
}

void tool_memory::failed(const std::string& key, const std::string& account, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  touched(key, account).failed_until_us = now_us + backoff_us;
  make_room(account);
}

// When a list that its server reported as changed must be requested again.
std::int64_t tool_memory::doubted_from_us(const entry& e) {
  if (e.vain == 0) return e.stored_us;
  return e.stored_us + std::min(first_pause_us << std::min(e.vain - 1, 10), longest_pause_us);
}

void tool_memory::age(const std::string& key, const std::string& account, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  auto& e = touched(key, account);
  e.doubted = true;
  e.fresh_until_us = std::min(e.fresh_until_us, std::max(now_us, doubted_from_us(e)));
  ++e.aged;
  make_room(account);
}

std::size_t tool_memory::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

// Returns the entry of that key, created if necessary, and marks it as most recently used.
tool_memory::entry& tool_memory::touched(const std::string& key, const std::string& account) {
  if (const auto at = by_key_.find(key); at != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, at->second);
    return *at->second;
  }
  std::list<entry> made(1);
  made.front().key = key;
  made.front().account = account;
  auto& of = shares_[account];
  by_key_.emplace(key, made.begin());
  entries_.splice(entries_.begin(), made);
  ++of.entries;
  weigh(entries_.front());
  return entries_.front();
}

void tool_memory::weigh(entry& e) {
  const auto bytes = overhead + 2 * (e.key.size() + e.account.size()) + (e.tools ? e.tools->bytes : 0);
  auto& of = shares_.at(e.account);
  for (auto* sum : {&bytes_, &of.bytes}) *sum += bytes - e.bytes;
  e.bytes = bytes;
}

void tool_memory::make_room(const std::string& account) {
  while (over(bytes_, entries_.size())) {
    auto last = std::prev(entries_.end());
    const auto own = shares_.find(account);
    if (own != shares_.end() && over(4 * own->second.bytes, 4 * own->second.entries)) {
      while (last->account != account) --last;
    }
    remove(last);
  }
}

void tool_memory::remove(place at) {
  const auto of = shares_.find(at->account);
  bytes_ -= at->bytes;
  of->second.bytes -= at->bytes;
  if (--of->second.entries == 0) shares_.erase(of);
  by_key_.erase(at->key);
  entries_.erase(at);
}

}  // namespace mcp

#include "memory.hpp"

namespace mcp {
namespace {

constexpr std::int64_t backoff_us = 30LL * 1'000'000;
constexpr std::size_t overhead = 256;  // of an entry, beside its key and its list

}  // namespace

remembered tool_memory::look_up(const std::string& key, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  const auto at = by_key_.find(key);
  if (at == by_key_.end()) return {};
  const auto& e = touched(key);
  return {e.tools, e.tools && e.fresh_until_us > now_us, e.failed_until_us > now_us, e.aged};
}

list_change tool_memory::store(const std::string& key, tool_list_ptr tools, std::int64_t life_us,
                               std::int64_t now_us, std::uint64_t aged) {
  std::lock_guard lock(mutex_);
  auto& e = touched(key);
  list_change change;
  if (e.tools) change = compare(*e.tools, *tools);
  if (tools->bytes > most_bytes_) {
    remove(entries_.begin());
    return change;
  }
  e.tools = std::move(tools);
  e.fresh_until_us = e.aged == aged ? now_us + life_us : 0;
  e.failed_until_us = 0;
  weigh(e);
  make_room();
  return change;
}

void tool_memory::failed(const std::string& key, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  touched(key).failed_until_us = now_us + backoff_us;
  make_room();
}

void tool_memory::age(const std::string& key) {
  std::lock_guard lock(mutex_);
  auto& e = touched(key);
  e.fresh_until_us = 0;
  ++e.aged;
  make_room();
}

std::size_t tool_memory::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

// The entry of that key, made if it is not there, as the one used last.
tool_memory::entry& tool_memory::touched(const std::string& key) {
  if (const auto at = by_key_.find(key); at != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, at->second);
    return *at->second;
  }
  entries_.push_front({});
  try {
    entries_.front().key = key;
    by_key_.emplace(key, entries_.begin());
  } catch (...) {
    entries_.pop_front();
    throw;
  }
  weigh(entries_.front());
  return entries_.front();
}

void tool_memory::weigh(entry& e) {
  bytes_ -= e.bytes;
  e.bytes = overhead + 2 * e.key.size() + (e.tools ? e.tools->bytes : 0);
  bytes_ += e.bytes;
}

void tool_memory::make_room() {
  while (!entries_.empty() && (bytes_ > most_bytes_ || entries_.size() > most_entries_)) {
    remove(std::prev(entries_.end()));
  }
}

void tool_memory::remove(place at) {
  bytes_ -= at->bytes;
  by_key_.erase(at->key);
  entries_.erase(at);
}

}  // namespace mcp

// Cache of tool lists, per server configuration and account, so that no account sees what another account's credentials
// revealed. Limited in entries and bytes, evicted by least recent use; an account that uses more than a quarter evicts
// its own entries. Any thread.
#pragma once

#include <list>
#include <mutex>
#include <unordered_map>

#include "tool.hpp"

namespace mcp {

// The cached state of a server.
struct remembered {
  tool_list_ptr tools;  // empty: nothing yet
  bool fresh = false;
  bool failed_lately = false;
  std::uint64_t aged = 0;  // how often the list was invalidated; a list requested before the last time is stale
};

class tool_memory {
 public:
  explicit tool_memory(std::size_t max_bytes, std::size_t max_entries = 4096)
      : max_bytes_(max_bytes), max_entries_(max_entries) {}

  // A key belongs to one account.
  remembered look_up(const std::string& key, std::int64_t now_us);
  // Returns what changed since the last list. A list that is larger than the cache is not stored. aged: the value when
  // the server was asked.
  list_change store(const std::string& key, const std::string& account, tool_list_ptr tools, std::int64_t life_us,
                    std::int64_t now_us, std::uint64_t aged = 0);
  void failed(const std::string& key, const std::string& account, std::int64_t now_us);
  // Invalidates the list, because the server says that it has changed. If the list then turns out unchanged, the next
  // invalidation takes effect after a pause that doubles each time, up to a minute.
  void age(const std::string& key, const std::string& account, std::int64_t now_us);

  std::size_t bytes() const;

 private:
  struct share {
    std::size_t bytes = 0, entries = 0;
  };
  struct entry {
    std::string key, account;
    tool_list_ptr tools;
    std::int64_t fresh_until_us = 0, failed_until_us = 0, stored_us = 0;
    bool doubted = false;  // the server said that the list has changed
    int vain = 0;  // how often in a row it was then unchanged
    std::uint64_t aged = 0;
    std::size_t bytes = 0;
  };
  using place = std::list<entry>::iterator;
  entry& touched(const std::string& key, const std::string& account);
  static std::int64_t doubted_from_us(const entry& e);
  void weigh(entry& e);
  void make_room(const std::string& account);  // that has grown
  bool over(std::size_t bytes, std::size_t entries) const { return bytes > max_bytes_ || entries > max_entries_; }
  void remove(place at);

  const std::size_t max_bytes_, max_entries_;
  mutable std::mutex mutex_;
  std::list<entry> entries_;  // most recently used first
  std::unordered_map<std::string, place> by_key_;
  std::unordered_map<std::string, share> shares_;  // only accounts with entries
  std::size_t bytes_ = 0;
};

}  // namespace mcp

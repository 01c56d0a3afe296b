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
struct cached_tools {
  tool_list_ptr tools;  // nullptr: no list yet
  bool fresh = false;
  bool failed_recently = false;
  std::uint64_t invalidations = 0;  // a list that was requested before the last invalidation is stale
};

class tool_list_cache {
 public:
  explicit tool_list_cache(std::size_t max_bytes, std::size_t max_entries = 4096)
      : max_bytes_(max_bytes), max_entries_(max_entries) {}

  // A key belongs to one account.
  cached_tools look_up(const std::string& key, std::int64_t now_us);
  // Returns what changed since the last list. A list that is larger than the cache is not stored.
  // `invalidations_seen`: cached_tools::invalidations when the list was requested.
  list_change store(const std::string& key, const std::string& account, tool_list_ptr tools, std::int64_t life_us,
                    std::int64_t now_us, std::uint64_t invalidations_seen = 0);
  // Records that the server could not be listed.
  void record_failure(const std::string& key, const std::string& account, std::int64_t now_us);
  // Invalidates the list, because the server reports that it has changed. If the list then turns out unchanged, the
  // next invalidation takes effect after a pause that doubles each time, up to a minute.
  void invalidate(const std::string& key, const std::string& account, std::int64_t now_us);

  std::size_t bytes() const;

 private:
  struct account_usage {
    std::size_t bytes = 0, entries = 0;
  };
  struct entry {
    std::string key, account;
    tool_list_ptr tools;
    std::int64_t fresh_until_us = 0, failed_until_us = 0, stored_us = 0;
    bool reported_changed = false;  // the server reported that the list has changed
    int unfounded_reports = 0;  // consecutive reports after which the list was unchanged
    std::uint64_t invalidations = 0;
    std::size_t bytes = 0;
  };
  using position = std::list<entry>::iterator;
  entry& touch(const std::string& key, const std::string& account);
  static std::int64_t refresh_due_us(const entry& e);
  void update_size(entry& e);
  void evict(const std::string& account);  // the account whose usage has grown
  bool exceeds(std::size_t bytes, std::size_t entries) const { return bytes > max_bytes_ || entries > max_entries_; }
  void remove(position at);

  const std::size_t max_bytes_, max_entries_;
  mutable std::mutex mutex_;
  std::list<entry> entries_;  // most recently used first
  std::unordered_map<std::string, position> by_key_;
  std::unordered_map<std::string, account_usage> usage_;  // only accounts with entries
  std::size_t bytes_ = 0;
};

}  // namespace mcp

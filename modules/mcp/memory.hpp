// What servers said about their tools, kept per server configuration and account, so that nobody sees
// what another one's credentials brought to light. Bounded in entries and in bytes: what was not used
// for the longest time goes first, but an account that has more than a quarter gives up its own.
// Any thread.
#pragma once

#include <list>
#include <mutex>
#include <unordered_map>

#include "tool.hpp"

namespace mcp {

// What is remembered of a server.
struct remembered {
  tool_list_ptr tools;  // empty: nothing yet
  bool fresh = false;
  bool failed_lately = false;
  std::uint64_t aged = 0;  // how often: a list that was asked for before the last time is out of date
};

class tool_memory {
 public:
  explicit tool_memory(std::size_t most_bytes, std::size_t most_entries = 4096)
      : most_bytes_(most_bytes), most_entries_(most_entries) {}

  // A key belongs to one account.
  remembered look_up(const std::string& key, std::int64_t now_us);
  // What changed since the last time. A list that is too large for the memory is not kept.
  // aged: as it was when the server was asked.
  list_change store(const std::string& key, const std::string& account, tool_list_ptr tools, std::int64_t life_us, std::int64_t now_us,
                    std::uint64_t aged = 0);
  void failed(const std::string& key, const std::string& account, std::int64_t now_us);
  // The server says that its list has changed: it is to be asked for again. A server that says so although the list stays
  // the same is asked after a pause that doubles each time, up to a minute.
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
    int vain = 0;          // how often in a row it then was the same
    std::uint64_t aged = 0;
    std::size_t bytes = 0;
  };
  using place = std::list<entry>::iterator;
  entry& touched(const std::string& key, const std::string& account);
  static std::int64_t doubted_from_us(const entry& e);
  void weigh(entry& e);
  void make_room(const std::string& account);  // that has grown
  bool over(std::size_t bytes, std::size_t entries) const { return bytes > most_bytes_ || entries > most_entries_; }
  void remove(place at);

  const std::size_t most_bytes_, most_entries_;
  mutable std::mutex mutex_;
  std::list<entry> entries_;  // the last used first
  std::unordered_map<std::string, place> by_key_;
  std::unordered_map<std::string, share> shares_;  // of the accounts that have any
  std::size_t bytes_ = 0;
};

}  // namespace mcp

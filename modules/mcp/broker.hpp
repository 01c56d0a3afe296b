// Discovery and calls, each with its limit on time, and the memory of what servers offer.
//
// The memory is kept per server configuration and account, so that nobody sees what another one's
// credentials brought to light. Any thread; tasks run on the executor of their chain.
#pragma once

#include "servers.hpp"
#include "settings.hpp"

namespace mcp {

// What is remembered of a server.
struct remembered {
  tool_list_ptr tools;  // empty: nothing yet
  bool fresh = false;
  bool failed_lately = false;
};

class tool_memory {
 public:
  remembered look_up(const std::string& key, std::int64_t now_us) const;
  // What changed since the last time.
  list_change store(const std::string& key, tool_list_ptr tools, std::int64_t life_us,
                    std::int64_t now_us);
  void failed(const std::string& key, std::int64_t now_us);
  void age(const std::string& key);  // from now on to be asked for again

 private:
  struct entry {
    tool_list_ptr tools;
    std::int64_t fresh_until_us = 0, failed_until_us = 0, used_us = 0;
  };
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, entry> entries_;
};

enum class freshness { remembered, asked_now };

class broker {
 public:
  broker(client_parts& parts, const settings& s) : parts_(parts), settings_(s), maker_(parts) {}

  // Throws what client throws; mcp.timeout after the limit. An old list is not served.
  ry::task<tool_list_ptr> discover(server_ptr s, freshness wanted);
  // result_json of agent.tools/1. A failed call throws.
  ry::task<std::string> call(server_ptr s, std::string tool, json::object arguments);

  tool_memory& memory() noexcept { return memory_; }
  const server_maker& servers() const noexcept { return maker_; }

 private:
  struct attempts {
    int eras = 0, credentials = 0;
  };
  // The server for another try after `why`; throws it when none is worth while.
  ry::task<server_ptr> next_try(server_ptr s, ry::error why, attempts& made);
  ry::task<tool_list> fetch(server_ptr s);
  ry::task<json::value> invoke(server_ptr s, std::string tool, json::object arguments);
  void keep(const server& s, tool_list_ptr list);

  client_parts& parts_;
  const settings& settings_;
  const server_maker maker_;
  tool_memory memory_;
};

}  // namespace mcp

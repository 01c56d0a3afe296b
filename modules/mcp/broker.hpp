// Discovery and calls, each with its limit on time, and the memory of what servers offer. Any thread;
// tasks run on the executor of their chain.
#pragma once

#include "kept_clients.hpp"
#include "memory.hpp"
#include "places.hpp"
#include "servers.hpp"
#include "settings.hpp"

namespace mcp {

enum class freshness { remembered, asked_now };

class broker {
 public:
  broker(client_parts& parts, const settings& s)
      : parts_(parts),
        settings_(s),
        maker_(parts),
        memory_(s.cache_bytes),
        kept_(parts.ctx, s.kept),
        places_(parts.ctx, s.max_at_once) {
    parts_.tools_changed = [this](const server& from) { memory_.age(from.key, from.account_id); };
  }

  // Throws what client throws; mcp.timeout after the limit. An old list is not served.
  ry::task<tool_list_ptr> discover(server_ptr s, freshness wanted);
  // result_json of agent.tools/1. A failed call throws.
  ry::task<std::string> call(server_ptr s, std::string tool, json::object arguments);

  // Closes the connections that wait for their next use, soon.
  void close_kept() noexcept { kept_.clear(); }

  tool_memory& memory() noexcept { return memory_; }
  const server_maker& servers() const noexcept { return maker_; }

 private:
  // A call or a listing by this server has ended.
  void note(figures::operation what, const server& s, const ry::error& why, std::int64_t begun_us) const;
  struct attempts {
    int eras = 0, credentials = 0, unsent = 0, rooms = 0;
  };
  // A client for one piece of work, and its end.
  std::unique_ptr<client> client_of(const server_ptr& s, ry_exec* exec);
  void done_with(std::unique_ptr<client> c) noexcept;
  // The server for another try after `why`; throws it when none is worth while.
  ry::task<server_ptr> next_try(server_ptr s, ry::error why, bool unsent, attempts& made);
  // waits: whether it stands before its turn.
  ry::task<tool_list_ptr> ask(server_ptr s, freshness wanted, bool& waits);
  ry::task<std::string> result_of(server_ptr s, std::string tool, json::object arguments, bool& waits);
  ry::task<tool_list> fetch(server_ptr s);
  ry::task<json::value> invoke(server_ptr s, std::string tool, json::object arguments);
  void keep(const server& s, tool_list_ptr list, std::uint64_t aged);

  client_parts& parts_;
  const settings& settings_;
  const server_maker maker_;
  tool_memory memory_;
  kept_clients kept_;
  places places_;
};

}  // namespace mcp

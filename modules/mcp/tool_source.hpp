// agent.tools/1 for the MCP servers of an agent, or for a list of servers of the operator.
//
// A list contains the agent's enabled tools with their cached definitions. A stale cached list is served and refreshed
// in the background. Servers without a cached list are queried in parallel with a short time limit; the tools of a
// server that does not respond in time are offered without a description and discovered at their first use. A call uses
// the session of its run or a separate connection, and does not wait for the connection to close.
#pragma once

#include <ry/ext/agent_tools.h>
#include <ry/svc/agents.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <unordered_set>

#include "mcp_service.hpp"
#include "names.hpp"
#include "tool_definitions.hpp"

namespace mcp {

// An agent's MCP configuration at one version.
struct agent_servers {
  std::vector<configured> servers;
  std::vector<named_tool> tools;
  std::int32_t version = 0;
  std::string custom_mcps_json;
};
// Reads a list in the form of custom_mcps.
agent_servers read_list(std::string custom_mcps_json);
ry::task<agent_servers> read_agent(const ry::service<ry_agents_v1>& agents, std::string account_id,
                                   std::string agent_id, std::int32_t version);

class tool_source {
 public:
  tool_source(const ry::context& ctx, mcp_service& service, const settings& s, const ry::service<ry_agents_v1>& agents,
              tool_definitions& definitions)
      : ctx_(ctx), service_(service), settings_(s), agents_(agents), definitions_(definitions) {}
  // For servers of the operator instead of those of an agent.
  tool_source(const ry::context& ctx, mcp_service& service, const settings& s, const ry::service<ry_agents_v1>& agents,
              tool_definitions& definitions, agent_servers of_operator)
      : ctx_(ctx),
        service_(service),
        settings_(s),
        agents_(agents),
        definitions_(definitions),
        of_operator_(std::move(of_operator)) {}
  // Throws RY_INVALID_ARGUMENT, with the position in the list, if one of the operator's servers is not valid.
  void check_servers() const;

  // The table of agent.tools/1; its self is a tool_source.
  static const ry_agent_tools_v1* table() noexcept;

 private:
  struct scope {
    scope() = default;
    explicit scope(const ry_tools_scope* s)
        : account(ry::text(s->account_id)),
          agent(ry::text(s->agent_id)),
          thread(ry::text(s->thread_id)),
          run(ry::text(s->run_id)),
          version(s->agent_version),
          resumed(has_flag(s, RY_TOOLS_RESUMED)),
          asks(has_flag(s, RY_TOOLS_INPUT)) {
      if (RY_HAS(s, ry_tools_scope, input_json)) input = ry::text(s->input_json);
    }
    static bool has_flag(const ry_tools_scope* s, std::uint32_t flag) {
      return RY_HAS(s, ry_tools_scope, flags) && (s->flags & flag) != 0;
    }
    std::string account, agent, thread, run;
    std::int32_t version = 0;
    bool resumed = false;
    bool asks = false;  // calls may request input from the person
    std::string input;  // input_json of a call that continues
  };
  struct call_handle {
    tool_source* source;
    ry_tool_sink sink;
    void* ctx;
    ry::cancel_source cancel;
    std::shared_ptr<input_channel> input;  // nullptr: the call cannot request input
  };
  ry::task<agent_servers> servers_of(const scope& caller) const;
  server_ptr server_of(const configured& c, const scope& caller) const;
  ry::task<void> list(scope caller, ry_tools_list_fn fn, void* ctx);
  ry::task<std::string> describe(scope caller);
  // The enabled tools whose definition is not accepted. If changes are only logged, they are logged in the background.
  ry::task<std::vector<changed_definition>> changed_tools(configured c, server_ptr s, tool_list_ptr list);
  // Throws if the tool must not be called because its definition has changed.
  ry::task<void> check_definition(configured c, server_ptr s, std::string tool);
  // The server's instructions for the system prompt; empty: none.
  std::string shown_instructions(const tool_list& list) const;
  ry::task<tool_list_ptr> available_tools(server_ptr s);
  ry::task<void> refresh(server_ptr s, std::shared_ptr<ry::signal> done);
  ry::task<void> refresh_in_background(server_ptr s);
  // Indexes of the servers whose resources the agent may read.
  ry::task<std::vector<std::size_t>> servers_with_resources(const std::vector<configured>& servers,
                                                            const scope& caller);
  // resumed: an earlier worker of the run started the call.
  struct tool_call {
    scope caller;
    std::string id, name, arguments;
    bool resumed = false;
  };
  ry_status begin(tool_call call, ry_exec* exec, const ry_tool_sink& sink, void* ctx, void** handle);
  ry::task<void> run(tool_call call, call_handle* h);
  ry::task<std::string> invoke(tool_call call, call_handle* h);

  const ry::context& ctx_;
  mcp_service& service_;
  const settings& settings_;
  const ry::service<ry_agents_v1>& agents_;
  tool_definitions& definitions_;
  const std::optional<agent_servers> of_operator_;
  std::mutex mutex_;
  std::unordered_set<std::string> refreshing_;  // keys of servers that are being refreshed in the background
};

}  // namespace mcp

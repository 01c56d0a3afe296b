// The operator's MCP servers as one MCP server: lists their tools, and makes the calls that the policy of the module
// `runs` allows.
//
// Nothing is stored: a call ends with its request. Lifetime: that of the module. Any thread.
#pragma once

#include <ry/ext/agent_tools.h>
#include <ry/svc/mcp.h>
#include <ry/ry.hpp>

#include <memory>
#include <string>

#include "call_permits.hpp"
#include "call_stream.hpp"
#include "rpc_call.hpp"
#include "server_tools.hpp"
#include "services.hpp"
#include "settings.hpp"

namespace mcp_server {

class tool_server {
 public:
  tool_server(const ry::context& ctx, const settings& config, const services& s, const server_info& info,
              call_permits& permits)
      : ctx_(ctx), settings_(config), services_(s), info_(info), permits_(permits) {}

  // Whether the operator has configured servers.
  bool enabled() const noexcept { return !settings_.servers_json.empty(); }
  // Call it in start(). Throws ry::error that names the setting.
  void open();
  // Answers a request other than `initialize`. Throws rpc_error and ry::error.
  ry::task<void> dispatch(rpc_call c);

 private:
  // How a call ends; `why`: RY_REASON_*, if it was cancelled.
  struct outcome {
    json::object result;
    bool cancelled = false;
    std::int32_t why = 0;
  };

  ry::task<json::object> list(const rpc_call& c);
  ry::task<std::vector<server_tool>> all_tools(ry::uuid account) const;
  // Throws rpc_error if the tool does not exist.
  ry::task<server_tool> find_tool(ry::uuid account, std::string name) const;
  ry::task<void> call(rpc_call c);
  // Asks a client of 2026-07-28 for the approval, or reads its answer. nullopt: the call is approved.
  ry::task<std::optional<json::object>> ask_by_result(const rpc_call& c, const server_tool_call& call) const;
  // Asks in the stream. nullopt: the call is approved.
  ry::task<std::optional<json::object>> ask_in_stream(const rpc_call& c, const server_tool_call& call,
                                                      call_stream& to) const;
  ry::task<json::object> make_call(const rpc_call& c, const server_tool_call& call, bool asks, call_stream* to) const;
  ry::task<json::object> run_tool(const rpc_call& c, const server_tool_call& call, call_stream* to) const;
  ry::task<void> end(const rpc_call& c, call_stream* to, outcome o) const;
  json::object denied(const server_tool_call& call) const;
  // Throws rpc_error if this server cannot decide about calls.
  void require_policy() const;

  const ry::context& ctx_;
  const settings& settings_;
  const services& services_;
  const server_info& info_;
  call_permits& permits_;
  ry::service<ry_mcp_v1> mcp_;
  const ry_agent_tools_v1* tools_ = nullptr;
  void* tools_self_ = nullptr;
};

}  // namespace mcp_server

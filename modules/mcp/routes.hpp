// The HTTP routes of this module: the operations on an agent's custom MCP tools, and for admins listing and calling the
// tools of any server.
#pragma once

#include <ry/svc/accounts.h>
#include <ry/svc/agents.h>

#include "mcp_service.hpp"
#include "tool_definitions.hpp"

namespace mcp {

class routes {
 public:
  // The services are set before the first request.
  routes(const ry::context& ctx, mcp_service& service, const settings& s, const ry::service<ry_accounts_v1>& accounts,
         const ry::service<ry_agents_v1>& agents, tool_definitions& definitions)
      : ctx_(ctx), service_(service), settings_(s), accounts_(accounts), agents_(agents), definitions_(definitions) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> discover(ry::request r);
  ry::task<ry::response> enable(ry::request r);
  ry::task<ry::response> replace(ry::request r);
  ry::task<ry::response> changed_definitions(ry::request r);
  ry::task<ry::response> approve_definition(ry::request r);
  ry::task<ry::response> try_tools(ry::request r);
  ry::task<ry::response> try_call(ry::request r);

  ry::task<std::string> enabled_account(ry::request r);
  ry::task<std::string> account_of(ry::request r);
  ry::task<server_ptr> server_in_request(ry::request r, std::string type, std::string name, json::object config);
  ry::task<std::string> store(std::string account, std::string agent, std::int32_t expected, std::string list);

  const ry::context& ctx_;
  mcp_service& service_;
  const settings& settings_;
  const ry::service<ry_accounts_v1>& accounts_;
  const ry::service<ry_agents_v1>& agents_;
  tool_definitions& definitions_;
};

}  // namespace mcp

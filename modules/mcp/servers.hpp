// MCP server configurations of agents, and their conversion to servers that a client can connect to.
#pragma once

#include "client.hpp"

namespace mcp {

// One entry of an agent's custom_mcps.
struct configured {
  std::string name, type, custom_type;
  json::object config;  // secrets sealed
  std::vector<std::string> enabled;
  bool instructions = true;  // pass the server's instructions to the system prompt
  std::optional<bool> resources;  // nullopt: offered if a tool of the server is enabled
  enum class tool_change { log, ask, block } on_tool_change = tool_change::log;

  // Whether runs use the server, and whether they may read its resources.
  bool is_used() const { return !enabled.empty() || resources.value_or(false); }
  bool reads_resources() const { return resources.value_or(!enabled.empty()); }
};
std::vector<configured> read_configured(std::string_view custom_mcps_json);

// The list as API clients see it: secrets masked, all else as stored.
json::array masked(std::string_view custom_mcps_json);
inline constexpr std::string_view mask = "********";

// Maps "composio" to "prebuilt".
std::string canonical_type(std::string_view type);
// The address of a configuration: its url, profile id or name.
std::string address_of(const configured& c);

// Upper limit of a configured call timeout.
inline constexpr std::int64_t max_call_seconds = 24 * 3600;
// Validates the configuration members that this module defines and, for local programs, the names of all members.
// Returns an error message that names the field; empty if there is no problem.
std::string setting_problem(std::string_view type, std::string_view config_json);

// A message about the first invalid header, whose name follows `at`: "headers.a b is not a valid header name"; empty if
// all are valid. Values that are not strings are not checked.
std::string header_problem(const json::object& headers, std::string_view at);

// An error message without the server name at its beginning.
std::string_view without_name(std::string_view message);

// A name for a server that is known only by its address. Omits parts that may contain a secret (query, password). Valid
// UTF-8.
std::string name_of_address(std::string_view address);

class server_factory {
 public:
  explicit server_factory(client_context& context) : context_(context) {}

  // A server of an agent, with decrypted secrets. Throws ry::error; mcp.internal if they cannot be decrypted.
  server_ptr for_agent(const configured& c, std::string_view account_id, std::string_view agent_id) const;
  // A server that is not configured in an agent.
  server_ptr ad_hoc(std::string name, std::string_view type, std::string_view custom_type, const json::object& config,
                    std::string_view account_id, std::uint32_t flags = 0) const;
  // The same server for a call of this run and thread, with their shared session if configured. resumed: another
  // worker executed the run before.
  static server_ptr with_session(server_ptr s, std::string_view run_id, std::string_view thread_id, bool resumed);
  // The same server with the caller's id for the log: kind is "request_id" or "run_id".
  // The server may request input from the person.
  static server_ptr with_elicitation(server_ptr s);
  static server_ptr with_caller(server_ptr s, std::string_view kind, std::string_view id);
  // The same server without a session, after it turned out that it keeps no state.
  static server_ptr without_session(server_ptr s);
  // Throws mcp.refused (400) if the transport rejects the configuration.
  void check(const server& s) const;
  // Resolves a profile to its server; returns other servers unchanged. Throws ry::error: mcp.refused; mcp.internal if
  // the profile cannot be read.
  ry::task<server_ptr> resolve(server_ptr s) const;
  // The same server with renewed credentials, after the server refused those of `s` (`refused` is its
  // "mcp.unauthorized") or because they expired (no error). Throws `refused` if no others are available.
  ry::task<server_ptr> authorize(server_ptr s, ry::error refused) const;

 private:
  server_ptr resolved_from(server_ptr original, std::string type, std::string config_json) const;
  client_context& context_;
};

}  // namespace mcp

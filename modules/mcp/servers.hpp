// MCP servers as agents are configured with them, and how a configuration becomes something to talk to.
#pragma once

#include "client.hpp"

namespace mcp {

// One entry of an agent's custom_mcps.
struct configured {
  std::string name, type, custom_type;
  json::object config;  // secrets sealed
  std::vector<std::string> enabled;
  bool instructions = true;       // the server's go into the system prompt
  std::optional<bool> resources;  // nullopt: offered when a tool of the server is enabled
  enum class tool_change { log, ask, block } on_tool_change = tool_change::log;

  // Whether a run uses the server at all, and whether it may read the server's resources.
  bool in_use() const { return !enabled.empty() || resources.value_or(false); }
  bool reads_resources() const { return resources.value_or(!enabled.empty()); }
};
std::vector<configured> read_configured(std::string_view custom_mcps_json);

// The list as clients see it: secrets masked, type and spelling as stored.
json::array masked(std::string_view custom_mcps_json);
inline constexpr std::string_view mask = "********";

// "composio" and "prebuilt" are one.
std::string canonical_type(std::string_view type);
// The address of a configuration: its url, profile id or name.
std::string address_of(const configured& c);

// Longest call of a tool that a configuration may ask for.
inline constexpr std::int64_t most_call_seconds = 24 * 3600;
// What is wrong with the members of a configuration that are the module's own, or with the name of one of a local program,
// as a sentence that names the field; empty: nothing.
std::string setting_problem(std::string_view type, std::string_view config_json);

// The message of a failure without the name of the server that it begins with.
std::string_view without_name(std::string_view message);

// A name for a server that is known by its address only: never what may hold a secret (a query, a
// password), valid UTF-8.
std::string name_of_address(std::string_view address);

class server_maker {
 public:
  explicit server_maker(client_parts& parts) : parts_(parts) {}

  // A server of an agent; opens its secrets. Throws ry::error, mcp.internal when they cannot be read.
  server_ptr of_agent(const configured& c, std::string_view account_id,
                      std::string_view agent_id) const;
  // One that is asked about without being configured.
  server_ptr loose(std::string name, std::string_view type, std::string_view custom_type,
                   const json::object& config, std::string_view account_id,
                   std::uint32_t flags = 0) const;
  // The same for a call of that run and thread: with the session that they share, where the configuration says so.
  // taken_over: another worker has carried the run.
  static server_ptr in_session(server_ptr s, std::string_view run_id, std::string_view thread_id, bool taken_over);
  // The same for that asker: "request_id" or "run_id", and its value, for the log.
  static server_ptr asked_by(server_ptr s, std::string_view kind, std::string_view id);
  // The same for a server that turned out to keep no session.
  static server_ptr out_of_session(server_ptr s);
  // Throws mcp.refused (400) when its transport would not try it.
  void check(const server& s) const;
  // What a profile stands for; others unchanged. Throws ry::error: mcp.refused; mcp.internal when the
  // profile could not be read.
  ry::task<server_ptr> resolve(server_ptr s) const;
  // The same with better credentials, after the server refused those of s ("mcp.unauthorized", with what it
  // said) or because they expired (no error). Throws `refused` when nobody knows any.
  ry::task<server_ptr> authorize(server_ptr s, ry::error refused) const;

 private:
  server_ptr standing_for(server_ptr asked, std::string type, std::string config_json) const;
  client_parts& parts_;
};

}  // namespace mcp

// The list of an agent's MCP configurations: validated strictly, stored with sealed secrets, and returned with masked
// secrets.
//
// Secrets are the values of config.headers and config.env. The stored form is {"sealed": "<base64url>"}, sealed
// with the context mcp_secret_context(agent id). Clients see the mask; if a client sends it back, the stored value is
// kept.
#pragma once

#include <ry/cpp/types.hpp>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace agents {

inline constexpr std::string_view mask = "********";
std::string mcp_secret_context(std::string_view agent_id);

using seal_fn = std::function<std::string(std::string_view plain)>;

// Returns the list in its stored form. `given`: from a client; `stored`: the current stored list. Throws a ry::error
// with status 422 that names the member ("custom_mcps[1].config.url").
std::string read_mcp_list(const boost::json::value& given, std::string_view stored, const seal_fn& seal);
// For routes outside the contract: throws a 422 that names a member of an entry or its config that read_mcp_list()
// would ignore. Entries that are not objects are left to read_mcp_list().
void require_known_mcp_members(const boost::json::value& given);
// The list as clients see it, with masked secrets.
boost::json::array masked_mcp_list(std::string_view stored);

// The entries for agents.mcp_check/1: as the client sent them, or null for a server that is already stored. `read`: the
// result of read_mcp_list() for `given`. Empty if all servers are already stored.
std::string unchecked_mcp_list(const boost::json::value& given, std::string_view read, std::string_view stored);

}  // namespace agents

// The list of MCP configurations of an agent: read strictly, kept with sealed secrets, shown with
// masked ones.
//
// Secrets are the values of config.headers and config.env. Kept, each is {"sealed": "<base64url>"},
// sealed for the place mcp_place(agent id); shown, each is the mask. The mask sent back keeps the
// stored value.
#pragma once

#include <ry/cpp/types.hpp>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace agents {

inline constexpr std::string_view mask = "********";
std::string mcp_place(std::string_view agent_id);

using seal_fn = std::function<std::string(std::string_view plain)>;

// The list as it is kept. `given` is what a client sent; `stored` is what is kept now. Throws ry::error with status 422
// naming the place
// ("custom_mcps[1].config.url").
std::string read_mcp_list(const boost::json::value& given, std::string_view stored,
                       const seal_fn& seal);
// For routes that are not part of the contract: throws a 422 that names a member of an entry or of its config that
// read_mcp_list() would ignore. Entries of another shape are left to read_mcp_list().
void require_known_mcp_members(const boost::json::value& given);
// For a client.
boost::json::array masked_mcp_list(std::string_view stored);

// The entries of a list for agents.mcp_check/1: as the client wrote them, null for those whose server is stored already.
// `read`: what read_mcp_list() made of `given`. Empty if all of them are stored.
std::string unchecked_mcp_list(const boost::json::value& given, std::string_view read, std::string_view stored);

}  // namespace agents

// The tools of the operator's MCP servers as a client sees them, and the results of their calls. Pure.
#pragma once

#include <boost/json/array.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "revision.hpp"

namespace mcp_server {

struct server_tool {
  std::string name;
  std::string source;  // "mcp:<name of the server>"
  json::object definition;  // name, description, inputSchema, annotations
};
// Reads tools_json of agent.tools/1. Throws RY_INTERNAL if it is malformed.
std::vector<server_tool> read_server_tools(std::string_view tools_json);

// A page of tools/list: the tools after the one that the cursor names, up to the limits of a page. Throws rpc_error if
// the cursor names no tool. `listed`: whether the client may see the tool.
json::object tool_page(const std::vector<server_tool>& tools, std::string_view cursor,
                       const std::function<bool(std::string_view name)>& listed);

struct server_tool_call {
  std::string name;
  std::string arguments;  // a JSON object; the policy and the tool get the same text
};
// Reads the params of tools/call. Throws rpc_error.
server_tool_call read_server_tool_call(const json::object& params);
// Identifies the tool and its arguments; 64 hexadecimal digits.
std::string digest_of(const server_tool_call& call);

// A CallToolResult for the result_json of agent.tools/1.
json::object server_tool_result(std::string_view result_json, revision rev);

// The requestState of a call that waits for an approval: identifies the call and limits the time for its approval.
struct approval_state {
  std::string digest;
  std::int64_t until_unix_us = 0;
  std::string text() const;
};
std::optional<approval_state> read_approval_state(std::string_view text);

}  // namespace mcp_server

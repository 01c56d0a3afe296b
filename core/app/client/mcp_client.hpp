// `runyard mcp`: asks a server of ours about an MCP server, or has it call a tool there; with the address
// guard, the list of allowed commands and the limits that agents meet.
#pragma once

#include <string>
#include <vector>

#include "core/app/client/run_client.hpp"
#include "core/app/exit_code.hpp"

namespace ry::app::client {

struct mcp_request {
  std::string url;    // of our server, maybe with a base path
  std::string token;  // bearer of an admin
  std::string server;  // address of the MCP server; empty: `command`
  std::vector<std::string> command;  // program and arguments
  std::string type = "http";         // of an address: http or sse
  std::vector<std::string> headers;  // "Name: value", for the MCP server
  std::string tool;                  // empty: list the tools
  std::string arguments = "{}";      // JSON object
  output as = output::text;
  tls_trust trust{};
};

// Prints tools or a result to standard output. exit_code::failed when the MCP server fails or the tool says
// that it failed; refused when the request itself is wrong.
exit_code mcp(const mcp_request& request);

// The body of the request to our server. Throws std::invalid_argument with a sentence.
std::string mcp_body(const mcp_request& request);
// What is printed of an answer, in lines.
std::string mcp_text(const mcp_request& request, const std::string& body);

}  // namespace ry::app::client

// `runyard mcp`: asks our server to list the tools of an MCP server or to call one there. The address guard, the
// list of allowed commands and the limits of agents apply.
#pragma once

#include <string>
#include <vector>

#include "core/app/client/run_client.hpp"
#include "core/app/config/exit_code.hpp"

namespace ry::app::client {

struct mcp_request {
  std::string url;  // of our server, may have a base path
  std::string token;  // an admin's bearer token
  std::string server;  // address of the MCP server; empty: `command`
  std::vector<std::string> command;  // program and arguments
  std::string type = "http";  // transport of an address: http or sse
  std::vector<std::string> headers;  // "Name: value", for the MCP server
  std::string tool;  // empty: list the tools
  std::string arguments = "{}";  // JSON object
  output as = output::text;
  tls_trust trust{};
};

// Prints tools or a result to standard output. Returns exit_code::failed if the MCP server fails or the tool reports
// an error, refused if the request itself is invalid.
exit_code mcp(const mcp_request& request);

// The body of the request to our server. Throws std::invalid_argument with an error message.
std::string mcp_body(const mcp_request& request);
// The text to print for a response, in lines.
std::string mcp_text(const mcp_request& request, const std::string& body);

}  // namespace ry::app::client

// Settings of the module; immutable once the module is created.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcp_server {

inline constexpr std::string_view settings_schema = R"json({
  "type": "object",
  "properties": {
    "authorization_servers": {"type": "array", "maxItems": 10, "items": {"type": "string", "pattern": "^https?://[^\\s\"\\\\]+$", "form": "a URL such as https://login.example.org"}, "default": [],
      "description": "Issuer URLs of the OAuth authorization servers whose tokens this server accepts (auth.jwt, auth.issuers), for the metadata of the MCP endpoint; empty: clients need a configured token or API key"},
    "max_body_mb": {"type": "integer", "minimum": 1, "maximum": 256, "default": 16,
      "description": "Maximum size of a request to the MCP endpoint, in MiB; files are sent in base64, which makes them a third larger",
      "limit": {"resource": "Size of a request to the MCP endpoint, in MiB", "per": "request", "answer": "413"}},
    "calls_per_account": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 50,
      "description": "Maximum number of requests of an account to the MCP endpoints that wait for a run, or for a tool of mcp_server.servers, at the same time, per node",
      "limit": {"resource": "MCP requests that wait for a run or a tool", "per": "account and node", "answer": "429"}},
    "approval_wait_seconds": {"type": "integer", "minimum": 0, "maximum": 3600, "default": 60,
      "description": "Time in seconds for which a request whose run waits for an approval or for a result of another client's tool stays open if its client cannot be asked for the approval by elicitation; the run continues to wait"},
    "elicitation_wait_seconds": {"type": "integer", "minimum": 0, "maximum": 86400, "default": 600,
      "description": "Time in seconds for which a request whose client was asked for an approval by elicitation stays open; a run continues to wait, and a call of a tool of mcp_server.servers is not made"},
    "servers": {"type": "array", "maxItems": 100, "default": [],
      "description": "MCP servers of the operator, whose tools all accounts can call through POST /mcp/servers under the policy runs.tool_policy; empty: the endpoint does not exist",
      "items": {"type": "object", "required": ["name", "type", "config", "enabledTools"], "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 100, "description": "Name of the server; the names of its tools begin with it"},
        "type": {"type": "string", "minLength": 1, "maxLength": 50, "description": "Transport: http, sse, json or that of another module"},
        "enabledTools": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "string", "minLength": 1, "maxLength": 256}, "description": "Names of the tools that clients can call"},
        "config": {"type": "object", "description": "How to reach the server", "properties": {
          "url": {"type": "string", "maxLength": 8192, "description": "Address of the server"},
          "headers": {"type": "object", "additionalProperties": {"type": "string", "secret": true, "description": "Header of requests to the server"}},
          "command": {"type": "string", "maxLength": 4096, "description": "Program to run, for the type json"},
          "args": {"type": "array", "items": {"type": "string"}, "description": "Arguments of the program"},
          "env": {"type": "object", "additionalProperties": {"type": "string", "secret": true, "description": "Environment variable of the program"}},
          "session": {"type": "string", "enum": ["call", "thread"], "description": "Which calls share a session with the server: none (call), or those of one client session (thread)"},
          "revision": {"type": "string", "description": "Protocol revision of the server; auto detects it"},
          "reuse": {"type": "boolean", "description": "Whether later calls of the account may use the same connection"},
          "resources": {"type": "boolean", "default": false, "description": "Whether the tools list_resources and read_resource include the server"},
          "tasks": {"type": "boolean", "description": "false: calls are never MCP tasks"},
          "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 86400, "description": "Time limit of a call; overrides mcp.call_timeout_seconds"}
        }}
      }},
      "limit": {"resource": "MCP servers of the operator", "per": "server", "answer": "the server does not start", "default": "100"}}
  }
})json";

struct settings {
  std::vector<std::string> authorization_servers;
  std::uint64_t max_body_bytes = 0;
  std::size_t calls_per_account = 0;
  std::int64_t approval_wait_us = 0, elicitation_wait_us = 0;
  std::string servers_json;  // the servers_json of open_servers of mcp/1; empty: no servers
};
settings read_settings(std::string_view json);

}  // namespace mcp_server

// Settings of the module; immutable once the module is created.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcp_server {

inline constexpr std::string_view settings_schema = R"({
  "type": "object",
  "properties": {
    "authorization_servers": {"type": "array", "maxItems": 10, "items": {"type": "string", "pattern": "^https?://[^\\s\"\\\\]+$", "form": "a URL such as https://login.example.org"}, "default": [],
      "description": "Issuer URLs of the OAuth authorization servers whose tokens this server accepts (auth.jwt, auth.issuers), for the metadata of the MCP endpoint; empty: clients need a configured token or API key"},
    "max_body_mb": {"type": "integer", "minimum": 1, "maximum": 256, "default": 16,
      "description": "Maximum size of a request to the MCP endpoint, in MiB; files are sent in base64, which makes them a third larger",
      "limit": {"resource": "Size of a request to the MCP endpoint, in MiB", "per": "request", "answer": "413"}},
    "calls_per_account": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 50,
      "description": "Maximum number of requests of an account to the MCP endpoint that wait for a run at the same time, per node",
      "limit": {"resource": "MCP requests that wait for a run", "per": "account and node", "answer": "429"}},
    "approval_wait_seconds": {"type": "integer", "minimum": 0, "maximum": 3600, "default": 60,
      "description": "Time in seconds for which a request whose run waits for an approval or for a result of another client's tool stays open if its client cannot be asked for the approval by elicitation; the run continues to wait"},
    "elicitation_wait_seconds": {"type": "integer", "minimum": 0, "maximum": 86400, "default": 600,
      "description": "Time in seconds for which a request whose client was asked for an approval by elicitation stays open; the run continues to wait"}
  }
})";

struct settings {
  std::vector<std::string> authorization_servers;
  std::uint64_t max_body_bytes = 0;
  std::size_t calls_per_account = 0;
  std::int64_t approval_wait_us = 0, elicitation_wait_us = 0;
};
settings read_settings(std::string_view json);

}  // namespace mcp_server

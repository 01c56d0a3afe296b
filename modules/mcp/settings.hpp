// Settings of this module.
#pragma once

#include <cstdint>
#include <string_view>

namespace mcp {

inline constexpr char settings_schema[] = R"json({
  "type": "object",
  "properties": {
    "integrations_enabled": {"type": "boolean", "default": true, "description": "false: the endpoints for custom MCP tools respond with 403, and agents get no tools of MCP servers"},
    "discovery_timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 30, "default": 30, "description": "Time limit of the discovery of one server in seconds, from name resolution to the last byte"},
    "call_timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 3600, "default": 30, "description": "Seconds that a tool call may take without a result or increasing progress; timeout_seconds of a server's configuration overrides it"},
    "max_call_timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 86400, "default": 3600, "description": "Maximum duration of a tool call in seconds, regardless of progress and of the server's configuration",
      "limit": {"resource": "Time of an MCP tool call", "per": "call", "answer": "the model gets an error", "metric": "runyard_mcp_requests_total"}},
    "list_wait_seconds": {"type": "integer", "minimum": 0, "maximum": 30, "default": 5, "description": "Seconds that a run waits for the tool lists of servers that are not cached"},
    "cache_hours": {"type": "integer", "minimum": 0, "maximum": 24, "default": 24, "description": "Hours after which a cached tool list expires; a server can set a shorter time"},
    "cache_mb": {"type": "integer", "minimum": 1, "maximum": 65536, "default": 64, "description": "Maximum size of the cache of tool lists in MiB; the least recently used lists are evicted first",
      "limit": {"resource": "Cache of tool lists", "per": "node; a quarter per account", "answer": "the least recently used lists are evicted"}},
    "max_result_kb": {"type": "integer", "minimum": 1, "maximum": 65536, "default": 1024, "description": "Maximum size of a tool result in KiB; larger results are truncated",
      "limit": {"resource": "Result of an MCP tool", "per": "call", "answer": "truncated with a note"}},
    "max_files_kb": {"type": "integer", "minimum": 0, "maximum": 65536, "default": 12288, "description": "Maximum size of the audio and other binary contents of one result that are stored in the run's workspace, in KiB of base64; 0: none",
      "limit": {"resource": "Binary contents of a result of an MCP tool", "per": "call", "answer": "omitted with a note"}},
    "max_instructions_kb": {"type": "integer", "minimum": 0, "maximum": 16, "default": 4, "description": "Maximum size in KiB of a server's instructions that are included in the system prompt of runs that use the server; 0: none"},
    "max_message_kb": {"type": "integer", "minimum": 16, "maximum": 65536, "default": 16384, "description": "Maximum size of a server's message in KiB",
      "limit": {"resource": "Message of an MCP server", "per": "message", "answer": "502, or the model gets an error", "metric": "runyard_mcp_requests_total"}},
    "reuse_idle_seconds": {"type": "integer", "minimum": 0, "maximum": 3600, "default": 60, "description": "Seconds after which an idle connection to a server with \"reuse\": true is closed; 0: each call opens its own connection"},
    "session_idle_seconds": {"type": "integer", "minimum": 1, "maximum": 86400, "default": 900, "description": "Seconds after which an idle session of a run or thread is closed"},
    "max_idle": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 1024, "description": "Maximum number of idle connections and sessions",
      "limit": {"resource": "Idle MCP connections and sessions", "per": "node", "answer": "the least recently used ones are closed", "metric": "runyard_mcp_sessions"}},
    "max_idle_per_account": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 32, "description": "Maximum number of idle connections and sessions of one account",
      "limit": {"resource": "Idle MCP connections and sessions", "per": "account, node", "answer": "the least recently used ones are closed", "metric": "runyard_mcp_sessions"}},
    "max_at_once_per_account": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 64, "description": "Maximum number of concurrent discoveries and calls of one account; further ones wait",
      "limit": {"resource": "MCP discoveries and calls in progress", "per": "account, node", "answer": "the request waits, then 504", "metric": "runyard_mcp_request_seconds"}},
    "max_tools": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 1000, "description": "Maximum number of tools of one server; further tools are omitted",
      "limit": {"resource": "Tools of an MCP server", "per": "server", "answer": "further tools are omitted, with a warning in the log"}}
  }
})json";

// Limits of the connection pool.
struct pool_limits {
  std::uint64_t idle_ms = 60'000;  // 0: only sessions are pooled
  std::uint64_t session_idle_ms = 900'000;  // for sessions of runs and threads
  std::size_t max_clients = 1024, max_per_account = 32;
  std::int64_t max_age_us = 3600LL * 1'000'000;  // a detected protocol revision may become outdated
};

struct settings {
  bool enabled = true;
  std::uint64_t discovery_ms = 30'000, call_ms = 30'000, max_call_ms = 3'600'000, list_wait_ms = 5'000;
  std::int64_t cache_us = 24LL * 3600 * 1'000'000;
  std::size_t cache_bytes = 64u << 20, max_result_bytes = 1u << 20, max_message_bytes = 16u << 20,
              max_instructions_bytes = 4u << 10, max_files_bytes = 12u << 20, max_tools = 1000;
  std::size_t max_concurrent = 64;  // per account
  pool_limits pool;
};
settings read_settings(std::string_view json);

}  // namespace mcp

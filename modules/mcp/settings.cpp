#include "settings.hpp"

#include "rpc.hpp"

namespace mcp {

settings read_settings(std::string_view text) {
  const auto v = text.empty() ? json::value(json::object()) : parse(text);
  const auto& o = v.as_object();
  const auto number = [&](const char* key, std::uint64_t default_value) {
    const auto* n = o.if_contains(key);
    return n != nullptr && n->is_int64() ? static_cast<std::uint64_t>(n->get_int64()) : default_value;
  };
  settings s;
  if (const auto* on = o.if_contains("integrations_enabled"); on != nullptr && on->is_bool()) {
    s.enabled = on->get_bool();
  }
  s.discovery_ms = number("discovery_timeout_seconds", 30) * 1000;
  s.call_ms = number("call_timeout_seconds", 30) * 1000;
  s.max_call_ms = number("max_call_timeout_seconds", 3600) * 1000;
  s.list_wait_ms = number("list_wait_seconds", 5) * 1000;
  s.cache_us = static_cast<std::int64_t>(number("cache_hours", 24)) * 3600 * 1'000'000;
  s.cache_bytes = number("cache_mb", 64) << 20;
  s.max_result_bytes = number("max_result_kb", 1024) << 10;
  s.max_files_bytes = number("max_files_kb", 12288) << 10;
  s.max_instructions_bytes = number("max_instructions_kb", 4) << 10;
  s.max_message_bytes = number("max_message_kb", 16384) << 10;
  s.pool.idle_ms = number("reuse_idle_seconds", 60) * 1000;
  s.pool.session_idle_ms = number("session_idle_seconds", 900) * 1000;
  s.pool.max_clients = number("max_idle", 1024);
  s.pool.max_per_account = number("max_idle_per_account", 32);
  s.max_concurrent = number("max_at_once_per_account", 64);
  s.max_tools = number("max_tools", 1000);
  return s;
}

}  // namespace mcp

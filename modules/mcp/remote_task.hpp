// MCP tasks from the client's side: those of revision 2025-11-25, where the client requests a task, and the extension
// io.modelcontextprotocol/tasks of 2026-07-28, where the server decides. Without I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rpc.hpp"

namespace mcp {

inline constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";

// Whether a tool of a legacy server can be called as a task (execution.taskSupport).
enum class task_support { forbidden, optional, required };
task_support task_support_of(const json::object& tool);

// Whether the capabilities of a legacy server include tasks for tools/call, and tasks/cancel.
bool offers_task_calls(const json::object& capabilities);
bool offers_task_cancel(const json::object& capabilities);

struct remote_task {
  enum class state { working, input_required, completed, failed, cancelled };
  std::string id;
  state status = state::working;
  std::string message;  // statusMessage, for users
  std::optional<std::int64_t> ttl_ms;  // nullopt: unlimited, or not stated
  std::optional<std::int64_t> poll_ms;  // as suggested by the server
  json::value result, error;  // of the extension, in final states
  json::value input_requests;  // of the extension

  bool is_final() const noexcept { return status != state::working && status != state::input_required; }
};

// Reads the result of tools/call or tasks/get; nullopt if it does not describe a task.
std::optional<remote_task> read_task(const json::value& result);
// Whether the result of tools/call is a created task instead of the tool's result.
bool is_created_task(const json::value& result);

// The time until the next tasks/get. `polls`: how many have been sent.
std::uint64_t poll_interval_ms(const remote_task& t, int polls);

// The delay after `failures` consecutive failed requests about a task. It grows with each failure and respects the
// server's Retry-After, up to a minute.
std::uint64_t retry_delay_ms(int failures, std::uint32_t retry_after_s);

// One status line for the stream of the run.
std::string task_line(const remote_task& t);

}  // namespace mcp

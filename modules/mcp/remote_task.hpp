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
  std::optional<std::int64_t> ttl_ms;  // none: unlimited, or not stated
  std::optional<std::int64_t> poll_ms;  // as the server suggests
  json::value result, error;  // of the extension, in final states
  json::value input_requests;  // of the extension

  bool over() const noexcept { return status != state::working && status != state::input_required; }
};

// Reads the answer to tools/call or tasks/get; nullopt if it describes no task.
std::optional<remote_task> read_task(const json::value& result);
// Whether the answer to tools/call is a task instead of a result.
bool is_created_task(const json::value& result);

// The pause before the next tasks/get. `polls`: how many were sent.
std::uint64_t poll_pause_ms(const remote_task& t, int polls);

// The pause after `failures` failed requests about a task in a row. It grows with each failure and honours the server's
// Retry-After, up to a minute.
std::uint64_t retry_pause_ms(int failures, std::uint32_t retry_after_s);

// One status line for the stream of the run.
std::string task_line(const remote_task& t);

}  // namespace mcp

// The data of a run that clients receive: results of tools/call, and tasks. Pure.
#pragma once

#include <optional>
#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>

#include "revision.hpp"

namespace mcp_server {

// Maximum nesting depth of texts of runs/1: that of an output or of arguments, which is 60, with their envelope.
inline constexpr std::size_t max_service_json_depth = 80;

// The object of GET /agent-run/{id}, reduced to what this module needs.
struct run_info {
  std::string id, thread_id;
  std::string status;  // running, completed, failed, stopped
  std::string error, error_code;  // of a failed run
  std::string started_at, completed_at;
  std::int64_t queue_position = 0;  // 0: the run does not wait
  json::array waiting_for;  // as in GET /agent-run/{id}
  std::string agent_id;
  bool ended() const noexcept { return status != "running"; }
};
run_info read_run(std::string_view text);
run_info read_run(const json::object& o);

// The last answer of a run, from the messages of its thread, newest first. Answers that were continued consist of
// several messages.
class final_answer {
 public:
  explicit final_answer(std::string run_id) : run_id_(std::move(run_id)) {}
  // True: no further message is needed.
  bool add(const json::object& message);
  std::string text() const;  // at most max_answer_bytes, with a note if it was longer

 private:
  std::string run_id_;
  std::string text_;
  bool begun_ = false;
};
inline constexpr std::size_t max_answer_bytes = 1024 * 1024;

enum class outcome {
  of_agent,  // the result of the agent's tool: an error unless the run has completed
  of_query  // the result of get_run and stop_run
};
// A CallToolResult.
json::object call_result(const run_info& run, std::string_view text, outcome what, revision rev);
// A CallToolResult with isError that has no run.
json::object refused_result(std::string_view text);
// The call ended before its run, which continues.
json::object interrupted_result(const run_info& run, revision rev);

// The text for the client's model if runs/1 refused a request; nullopt: an internal failure.
std::optional<std::string> refusal(const ry::error& e);
// The error of a request that failed without a result.
rpc_error as_rpc_error(const ry::error& e);

// The call ended before its run, which waits for an approval or for a result of another client.
json::object waiting_result(const run_info& run, revision rev);
std::string waiting_text(const run_info& run);

// The Task objects of both revisions. ttl: tasks are kept as long as their threads. elicits: the client can be asked for
// the approvals for which the run waits, so the status is input_required.
json::object task_2025(const run_info& run, bool elicits);
json::object task_2026(const run_info& run, bool elicits);
// The result of tasks/list for a page of GET /agent-runs.
json::object task_page(std::string_view runs, bool elicits);

struct server_info {
  std::string title, version;
};
json::object implementation(const server_info& s, revision rev);
// Adds the members that a revision requires in every result.
json::object complete_result(json::object result, const client& c, const server_info& s,
                             std::string_view type = "complete");

// What an endpoint offers: the agents of the account, or the tools of the operator's MCP servers.
enum class offer { agents, servers };
json::object initialize_result(revision rev, const server_info& s, offer what);
json::object discover_result(offer what);
// How long a client of 2026-07-28 may keep a list of tools.
inline constexpr std::int64_t tools_ttl_ms = 30'000;

}  // namespace mcp_server

// The MCP service: discovery and tool calls with time limits, concurrency limits and retries, and the cache of tool
// lists. Any thread; tasks run on the executor of their chain.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "client_pool.hpp"
#include "concurrency_limiter.hpp"
#include "memory.hpp"
#include "servers.hpp"
#include "settings.hpp"
#include "task_store.hpp"

namespace mcp {

enum class freshness { remembered, asked_now };
// The kinds of requests that a run can make to a server.
enum class operation { call_tool, list_resources, read_resource };

class mcp_service {
 public:
  mcp_service(client_context& context, const settings& s)
      : context_(context),
        settings_(s),
        maker_(context),
        memory_(s.cache_bytes),
        kept_(context.ctx, s.kept),
        limiter_(context.ctx, s.max_at_once),
        turns_(context.ctx, 1),
        tasks_(context.ctx) {
    context_.tools_changed = [this](const server& from) {
      memory_.age(from.key, from.account_id, context_.ctx.now_unix_us());
    };
  }

  // Throws the errors of `client`, and mcp.timeout after the time limit. Never falls back to a stale list.
  ry::task<tool_list_ptr> discover(server_ptr s, freshness wanted);
  // Called with a line for each progress notification and each new task status, on the executor of the chain. It must
  // stay valid until the call ends.
  using progress_line_fn = std::function<void(std::string_view line)>;
  struct call_request {
    std::string tool;
    json::object arguments;
    progress_line_fn on_progress_line;
    call_id of;  // identifies the call within its run
    operation what = operation::call_tool;  // list_resources takes `filter` and `offset`, read_resource takes `uri`
    std::string task;  // follow this task, which an earlier worker's call became; empty: call the tool
  };
  // Returns result_json of agent.tools/1. Throws if the call fails.
  ry::task<std::string> call(server_ptr s, call_request request);
  // Continues to wait for the task that the run's call became on another worker. Throws RY_NOT_FOUND if there is none.
  ry::task<std::string> resume(server_ptr s, call_request request);
  // Called when this worker is done with the run: closes the run's sessions and, if `finished`, cancels its tasks.
  void end_run(const std::string& run, bool finished) noexcept;

  // Closes all idle connections in the pool, asynchronously.
  void close_kept() noexcept { kept_.clear(); }

  tool_memory& memory() noexcept { return memory_; }
  const server_maker& servers() const noexcept { return maker_; }

 private:
  // Records the outcome and duration of a call or a listing in the metrics.
  void note(mcp_metrics::kind what, const server& s, const ry::error& why, std::int64_t begun_us) const;
  struct attempts {
    int revisions = 0, credentials = 0, unsent = 0, slots = 0;
  };
  // Takes a client from the pool or creates one; done_with() returns it to the pool or closes it.
  std::unique_ptr<client> client_of(const server_ptr& s, ry_exec* exec);
  void done_with(std::unique_ptr<client> c) noexcept;
  // Returns the server to retry with after `why`; rethrows `why` if a retry cannot help.
  ry::task<server_ptr> next_try(server_ptr s, ry::error why, bool unsent, attempts& made);
  // waits: set while the request waits for its concurrency permit.
  ry::task<tool_list_ptr> ask(server_ptr s, freshness wanted, bool& waits);
  // A call in the session of a run or thread. Calls in one session run one at a time, on the executor of the session.
  ry::task<std::string> call_in_session(server_ptr s, call_request request);
  ry::task<std::string> timed_call(server_ptr s, call_request request);
  // Records that a session with this server was opened. note_use() records a call in a session and returns whether the
  // session replaced an earlier one of the run.
  void note_beginning(const server& s);
  bool note_use(const server& s);
  // Callbacks for progress and task status of a call.
  struct call_hooks {
    progress_fn on_progress;
    std::function<void(const remote_task&)> on_status;
  };
  ry::task<std::string> result_of(server_ptr s, call_request request, call_hooks hooks, bool& waits);
  ry::task<tool_list> fetch(server_ptr s);
  ry::task<json::value> invoke(server_ptr s, call_request request, call_hooks hooks);
  ry::task<void> note_task(const call_id& of, const remote_task& t, std::string& task);
  // Cancels the task of a call that ended early: at once, or when the run is over if another worker may still continue
  // it.
  void abandon_task(server_ptr s, const call_id& of, std::string task, std::int32_t why) noexcept;
  ry::task<void> cancel_task(server_ptr s, std::string task);
  ry::task<void> end_tasks(std::string run, task_store::of_run left);
  void end_sessions(const std::string& run) noexcept;
  tool_list_ptr keep(const server& s, tool_list got, std::uint64_t aged);

  client_context& context_;
  const settings& settings_;
  const server_maker maker_;
  tool_memory memory_;
  client_pool kept_;
  concurrency_limiter limiter_;
  concurrency_limiter turns_;  // serialises the calls in one session, by its key
  std::mutex mutex_;
  // Sessions that calls were made in, by run or thread and by key; true: reopened since the last call.
  std::unordered_map<std::string, std::unordered_map<std::string, bool>> sessions_;
  task_store tasks_;
};

}  // namespace mcp

// The MCP service: discovery and tool calls with time limits, concurrency limits and retries, and the cache of tool
// lists. Any thread; tasks run on the executor of their coroutine chain.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "client_pool.hpp"
#include "concurrency_limiter.hpp"
#include "input_channel.hpp"
#include "servers.hpp"
#include "settings.hpp"
#include "task_store.hpp"
#include "tool_list_cache.hpp"

namespace mcp {

enum class cache_policy { allow_cached, refresh };
// The kinds of requests that a run can make to a server.
enum class operation { call_tool, list_resources, read_resource };

class mcp_service {
 public:
  mcp_service(client_context& context, const settings& s)
      : context_(context),
        settings_(s),
        factory_(context),
        cache_(s.cache_bytes),
        pool_(context.ctx, s.pool),
        limiter_(context.ctx, s.max_concurrent),
        session_limiter_(context.ctx, 1),
        tasks_(context.ctx) {
    context_.tools_changed = [this](const server& from) {
      cache_.invalidate(from.key, from.account_id, context_.ctx.now_unix_us());
    };
  }

  // Throws the errors of `client`, and mcp.timeout after the time limit. With allow_cached, returns a cached list that
  // has not expired; otherwise asks the server. Never falls back to a stale list.
  ry::task<tool_list_ptr> discover(server_ptr s, cache_policy policy);
  // Called with one line for each progress notification and each change of a task's status, on the executor of the
  // coroutine chain. The callable must stay valid until the call ends.
  using progress_line_fn = std::function<void(std::string_view line)>;
  struct call_request {
    std::string tool;
    json::object arguments;
    progress_line_fn on_progress_line;
    call_id id;  // identifies the call within its run
    operation kind = operation::call_tool;  // list_resources takes `filter` and `offset`, read_resource takes `uri`
    std::string task;  // id of the task that this call created on an earlier worker; empty: call the tool
    json::object continued;  // params of a call that continues with the person's answers
    // Only if the server's `elicitation` is set. on_input: the open call requests input (requests of agent.tools/1), on the executor of
    // the coroutine chain; the answers are given to `input`.
    std::function<void(json::array)> on_input;
    std::shared_ptr<input_channel> input;
  };
  // Returns result_json of agent.tools/1, maybe with input_required. Throws if the call fails.
  ry::task<std::string> call(server_ptr s, call_request request);
  // Resumes waiting for the task that this call created on another worker. Throws RY_NOT_FOUND if there is none.
  ry::task<std::string> resume(server_ptr s, call_request request);
  // Called when this worker stops working on the run: closes the run's sessions and, if `finished`, cancels its tasks.
  void end_run(const std::string& run, bool finished) noexcept;

  // Closes all idle connections in the pool, asynchronously.
  void close_idle() noexcept { pool_.clear(); }

  tool_list_cache& cache() noexcept { return cache_; }
  const server_factory& servers() const noexcept { return factory_; }

 private:
  // Records the outcome and duration of a call or a listing.
  void record_metrics(mcp_metrics::request_kind kind, const server& s, const ry::error& outcome,
                      std::int64_t begun_us) const;
  // Retries so far, by reason.
  struct attempts {
    int revisions = 0, credentials = 0, unsent = 0, slots = 0;
  };
  // Takes a client from the pool or creates one; release_client() returns it to the pool or closes it.
  std::unique_ptr<client> client_of(const server_ptr& s, ry_exec* exec);
  void release_client(std::unique_ptr<client> c) noexcept;
  // Returns the server to retry with after `failure`; rethrows `failure` if a retry cannot help.
  ry::task<server_ptr> prepare_retry(server_ptr s, ry::error failure, bool unsent, attempts& so_far);
  // Lists the tools within the account's concurrency limit. queued: set while the request waits for its permit.
  ry::task<tool_list_ptr> list_with_permit(server_ptr s, cache_policy policy, bool& queued);
  // A call in the session of a run or thread. Calls in one session run one at a time, on the executor of the session.
  ry::task<std::string> call_in_session(server_ptr s, call_request request);
  // A call within its time limits.
  ry::task<std::string> timed_call(server_ptr s, call_request request);
  // Records that a session with this server was opened.
  void record_session_opened(const server& s);
  // Records a call in the session. Returns true if the session replaced an earlier one of the run.
  bool record_session_use(const server& s);
  // Callbacks for progress and task status of a call.
  struct call_hooks {
    progress_fn on_progress;
    std::function<void(const remote_task&)> on_status;
    std::function<void()> on_url_completed;
  };
  // A call within the account's concurrency limit; converts and validates its result.
  ry::task<std::string> call_with_permit(server_ptr s, call_request request, call_hooks hooks, bool& queued);
  // These two send the requests and retry them.
  ry::task<tool_list> list_with_retries(server_ptr s);
  struct call_outcome {
    json::value result;
    std::optional<suspended_call> suspended;  // instead of a result
  };
  ry::task<call_outcome> call_with_retries(server_ptr s, call_request request, call_hooks hooks);
  ry::task<void> store_task(const call_id& id, const remote_task& t, std::string& task);
  // Cancels the task of a call that ended early: immediately, or at the end of the run if another worker may still
  // continue it.
  void abandon_task(server_ptr s, const call_id& id, std::string task, std::int32_t reason) noexcept;
  ry::task<void> cancel_task(server_ptr s, std::string task);
  ry::task<void> end_tasks(std::string run, task_store::run_tasks remaining);
  void end_sessions(const std::string& run) noexcept;
  tool_list_ptr cache_list(const server& s, tool_list received, std::uint64_t invalidations_seen);

  client_context& context_;
  const settings& settings_;
  const server_factory factory_;
  tool_list_cache cache_;
  client_pool pool_;
  concurrency_limiter limiter_;
  concurrency_limiter session_limiter_;  // one call at a time per session, by its pool key
  std::mutex mutex_;
  // Sessions in which calls were made, by run or thread and by pool key; true: reopened since the last call.
  std::unordered_map<std::string, std::unordered_map<std::string, bool>> sessions_;
  task_store tasks_;
};

}  // namespace mcp

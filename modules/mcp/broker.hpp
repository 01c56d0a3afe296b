// Discovery and calls, each with its limit on time, and the memory of what servers offer. Any thread;
// tasks run on the executor of their chain.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kept_clients.hpp"
#include "memory.hpp"
#include "places.hpp"
#include "servers.hpp"
#include "settings.hpp"
#include "task_store.hpp"

namespace mcp {

enum class freshness { remembered, asked_now };
// What a run asks of a server.
enum class operation { call_tool, list_resources, read_resource };

class broker {
 public:
  broker(client_parts& parts, const settings& s)
      : parts_(parts),
        settings_(s),
        maker_(parts),
        memory_(s.cache_bytes),
        kept_(parts.ctx, s.kept),
        places_(parts.ctx, s.max_at_once),
        turns_(parts.ctx, 1),
        tasks_(parts.ctx) {
    parts_.tools_changed = [this](const server& from) { memory_.age(from.key, from.account_id, parts_.ctx.now_unix_us()); };
  }

  // Throws what client throws; mcp.timeout after the limit. An old list is not served.
  ry::task<tool_list_ptr> discover(server_ptr s, freshness wanted);
  // told: is called for each notification of progress and each new status of a task, on the executor of the chain, and lives
  // until the call has ended.
  using told_fn = std::function<void(std::string_view line)>;
  struct call_request {
    std::string tool;
    json::object arguments;
    told_fn told;
    call_id of;        // the call of a run
    operation what = operation::call_tool;  // list_resources, with `filter` and `offset`; read_resource, with `uri`
    std::string task;  // the task that an earlier worker's call became, which is followed; empty: the tool is called
  };
  // result_json of agent.tools/1. A failed call throws.
  ry::task<std::string> call(server_ptr s, call_request request);
  // Goes on waiting for the task that the call of a run became on another worker. Throws RY_NOT_FOUND when there is none.
  ry::task<std::string> resume(server_ptr s, call_request request);
  // This worker has no more to do with the run: its sessions end, and when it is over, its tasks.
  void end_run(const std::string& run, bool finished) noexcept;

  // Closes the connections that wait for their next use, soon.
  void close_kept() noexcept { kept_.clear(); }

  tool_memory& memory() noexcept { return memory_; }
  const server_maker& servers() const noexcept { return maker_; }

 private:
  // A call or a listing by this server has ended.
  void note(figures::operation what, const server& s, const ry::error& why, std::int64_t begun_us) const;
  struct attempts {
    int eras = 0, credentials = 0, unsent = 0, rooms = 0;
  };
  // A client for one piece of work, and its end.
  std::unique_ptr<client> client_of(const server_ptr& s, ry_exec* exec);
  void done_with(std::unique_ptr<client> c) noexcept;
  // The server for another try after `why`; throws it when none is worth while.
  ry::task<server_ptr> next_try(server_ptr s, ry::error why, bool unsent, attempts& made);
  // waits: whether it stands before its turn.
  ry::task<tool_list_ptr> ask(server_ptr s, freshness wanted, bool& waits);
  // A call in the session of a run or thread: when its turn has come, and on the executor of the session.
  ry::task<std::string> call_in_session(server_ptr s, call_request request);
  ry::task<std::string> timed_call(server_ptr s, call_request request);
  // A session of that server is begun; one was in use; whether it took the place of another.
  void note_beginning(const server& s);
  bool note_use(const server& s);
  // A call, and what becomes of it beside its result.
  struct call_hooks {
    progress_fn on_progress;
    std::function<void(const remote_task&)> on_status;
  };
  ry::task<std::string> result_of(server_ptr s, call_request request, call_hooks hooks, bool& waits);
  ry::task<tool_list> fetch(server_ptr s);
  ry::task<json::value> invoke(server_ptr s, call_request request, call_hooks hooks);
  ry::task<void> note_task(const call_id& of, const remote_task& t, std::string& task);
  // A call ended before its task: the task is cancelled, at once or when the run is over.
  void give_up_task(server_ptr s, const call_id& of, std::string task, std::int32_t why) noexcept;
  ry::task<void> cancel_task(server_ptr s, std::string task);
  ry::task<void> end_tasks(std::string run, task_store::of_run left);
  void end_sessions(const std::string& run) noexcept;
  tool_list_ptr keep(const server& s, tool_list got, std::uint64_t aged);

  client_parts& parts_;
  const settings& settings_;
  const server_maker maker_;
  tool_memory memory_;
  kept_clients kept_;
  places places_;
  places turns_;  // of the calls in one session, by its key
  std::mutex mutex_;
  // Sessions that calls were made in, by run or thread and by key; true: begun anew since.
  std::unordered_map<std::string, std::unordered_map<std::string, bool>> sessions_;
  task_store tasks_;
};

}  // namespace mcp

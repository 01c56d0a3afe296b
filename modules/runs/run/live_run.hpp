// A run that this node executes.
//
// Thread: constructed on any; afterwards all members except constant ones are used only on `exec`. Lifetime: shared;
// the registry holds it while it is live on this node, and coroutines hold it as long as they need it.
#pragma once
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <ry/ry.hpp>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "run/conversation.hpp"
#include "run/loop_guard.hpp"
#include "settings/settings.hpp"
#include "stream/event_broadcaster.hpp"
#include "stream/stop_state.hpp"
#include "types/budget.hpp"
#include "types/run_mode.hpp"
#include "types/run_options.hpp"
#include "types/uuid_hash.hpp"

namespace runs {

struct run_identity {
  ry::uuid run, account, project, thread, agent;
  std::int32_t agent_version = 0;
  std::string model;
  std::string title;
  model_parameters parameters;  // from the start request
  std::shared_ptr<const run_options> options;  // nullptr: the start request has none
  run_mode mode = run_mode::agent;
  bool memory = true;  // false: the agent gets no information from outside its thread
  std::int64_t job = 0, fence = 0;
  // By the monotonic clock of this node, so that a jump of the wall clock does not end a run. If another node began the
  // run, the database reports its age.
  std::int64_t started_us = 0, deadline_us = 0;
};

// The state of the executor: conversation, usage, budget, and reports to clients. Only the executor uses it.
struct run_progress {
  std::vector<chat_message> messages;  // empty: not loaded yet
  bool messages_known = false;
  std::int32_t step = 0;  // number of committed model responses
  std::int64_t attempt_base = 0;  // attempts of this step that a crashed worker may have shown
  token_usage usage;  // all usage, charged or not
  std::int64_t charged_micro = 0;
  std::optional<std::int64_t> queue_wait_ms, first_token_ms;  // since the start
  // Model text was sent to clients; if first_token_ms is empty, an earlier worker sent it at an unknown time.
  bool text_shown = false;
  struct {  // since the last checkpoint
    token_usage usage;
    std::int64_t micro = 0;
  } unbilled;
  budget spending;
  std::optional<std::int64_t> balance_micro;  // of the account at the last checkpoint
  std::size_t answering = 0;  // index in the fallback chain of the model that was called last
  std::int64_t narrowed_window = 0;  // context window that the provider reported, in tokens; 0: as configured
  loop_guard loops;
  bool loops_known = true;  // false: to be rebuilt from the messages
  bool dirty = false;  // listed in the log writer
  std::shared_ptr<class workspace> files;  // set when a tool needs it or the start came with files; kept until the end
  bool uploads_waiting = false;  // the start's files were not read yet
  std::vector<std::string> sources_missing;  // tool sources that could not be listed, as reported to the clients
  std::set<std::string> images_reported;  // keys of images that cannot be scaled, as reported to the clients
  bool workspace_withheld_reported = false;  // the clients were notified that the run may not use the workspace
  bool tool_search_reported = false;  // the clients were notified that requests contain only some of the tools
  bool calls_may_have_begun = false;  // another worker may have begun tool calls of the step that this worker claimed
  bool has_approvals = false;  // some calls of the run needed an approval, or asked the person
  std::set<std::string> resolved_approvals;  // ids in the events approval_resolved that this worker appended
  bool has_questions = false;  // calls of the current answer may have questions
  bool prompts_pending = false;  // prompts have joined the run and are not messages of its thread yet
  // Rules of the agent for tool calls, in the version of the run (nullopt: not read yet) and in the current version; a
  // deleted agent keeps those that were read last.
  std::optional<std::vector<tool_rule>> rules_of_version;
  std::vector<tool_rule> rules_of_current_version;
  added_rules added;  // these rules and those of the start, as of the last calls
  bool had_worker = false;  // another worker executed the run before; its in-memory state is lost
  struct {  // events of an unfinished response of another worker; to == 0: none
    std::uint64_t from = 0, to = 0;
    std::int64_t attempt = 0;
  } open_turn;

  // Recent errors of the run, only for operators; bounded.
  struct failure_cause {
    std::int64_t at_us;
    std::int32_t step;
    std::string text;
  };
  std::vector<failure_cause> causes;
  std::string final_status = "running";
};

class live_run : public std::enable_shared_from_this<live_run> {
 public:
  // durable, reserved: see event_broadcaster.
  live_run(const ry::context& ctx, run_identity who, ry_exec* exec, std::uint64_t durable, std::uint64_t reserved)
      : who(std::move(who)),
        exec(exec),
        events(
            ctx, this->who.run, exec, [this] { return shared_from_this(); }, durable, reserved),
        stop(ctx, events.log_moved),
        ctx_(ctx) {}

  run_identity who;  // job and fence change only if the run is claimed again
  ry_exec* const exec;
  run_progress progress;
  event_broadcaster events;
  stop_state stop;

  // Milliseconds since the start.
  std::int64_t age_ms() const { return std::max<std::int64_t>(ctx_.mono_us() - who.started_us, 0) / 1000; }
  // Records a failure cause for operators.
  void note_cause(std::string text);
  // See event_broadcaster::end().
  void end(event_broadcaster::ending how);

 private:
  const ry::context& ctx_;
};

// The live runs of this node by id. Thread: any.
class registry {
 public:
  // `size`: gauge that is set to the number of entries.
  explicit registry(ry::metric size) : gauge_(size) {}
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;
  ~registry() { gauge_.add(-static_cast<double>(runs_.size())); }
  void put(std::shared_ptr<live_run> run) {
    std::lock_guard lock(mutex_);
    const ry::uuid id = run->who.run;
    if (runs_.insert_or_assign(id, std::move(run)).second) gauge_.add(1);
  }
  std::shared_ptr<live_run> find(const ry::uuid& id) const {
    std::lock_guard lock(mutex_);
    const auto found = runs_.find(id);
    return found == runs_.end() ? nullptr : found->second;
  }
  // Removes only this object: a new claim may have registered another one for the same run.
  void remove(const live_run& run) {
    std::shared_ptr<live_run> removed;  // destroyed after the lock is released
    std::lock_guard lock(mutex_);
    const auto found = runs_.find(run.who.run);
    if (found == runs_.end() || found->second.get() != &run) return;
    removed = std::move(found->second);
    runs_.erase(found);
    gauge_.add(-1);
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return runs_.size();
  }

 private:
  const ry::metric gauge_;
  mutable std::mutex mutex_;
  std::unordered_map<ry::uuid, std::shared_ptr<live_run>, uuid_hash> runs_;
};

}  // namespace runs

// A run that this node executes, as its readers and its executor see it: identity, feed, readers,
// the wish to end it.
//
// Thread: made anywhere; from then on everything but the constant members belongs to `exec`. Lifetime:
// shared; the registry holds it while it is live here, coroutines hold it as long as they need it.
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

#include "budget.hpp"
#include "conversation.hpp"
#include "feed.hpp"
#include "loop_guard.hpp"
#include "outlet.hpp"
#include "run_mode.hpp"
#include "settings.hpp"

namespace runs {

// One open stream that is served from memory.
struct reader {
  explicit reader(outlet& out) : out(out) {}
  outlet& out;
  ry::signal woken;
  // behind: what comes next is not in memory, or the connection is slow.
  enum class state { attached, behind, gone, finished } at = state::attached;
};

// What an executor is waiting for and can call off. On the run's executor.
class abortable {
 public:
  virtual void abort() noexcept = 0;

 protected:
  ~abortable() = default;
};

struct run_identity {
  ry::uuid run, account, project, thread, agent;
  std::int32_t agent_version = 0;
  std::string model;
  std::string title;
  model_parameters parameters;  // as given at the start
  run_mode mode = run_mode::agent;
  bool memory = true;  // false: the agent gets nothing from outside the thread
  std::int64_t job = 0, fence = 0;
  // By the monotonic clock of this node, so that a jump of the wall clock ends no run. The database says how long ago a run
  // began that another node has begun.
  std::int64_t started_us = 0, deadline_us = 0;
};

class live_run : public std::enable_shared_from_this<live_run> {
 public:
  live_run(const ry::context& ctx, run_identity who, ry_exec* exec, std::uint64_t durable,
           std::uint64_t reserved)
      : who(std::move(who)), exec(exec), feed(durable, reserved), ctx_(ctx), sent_(durable) {}

  run_identity who;  // job and fence change with a take-over only
  ry_exec* const exec;
  event_feed feed;

  // ---- the executor's own ----
  std::vector<chat_message> messages;  // empty: to be loaded
  bool messages_known = false;
  std::int32_t step = 0;               // model answers persisted
  std::int64_t attempt_base = 0;       // attempts of this step that a dead worker may have shown
  token_usage usage;                   // of all that was billed, charged or not yet
  std::int64_t charged_micro = 0;
  std::optional<std::int64_t> queue_wait_ms, first_token_ms;  // from the start
  bool text_shown = false;  // of the model, to readers. Without first_token_ms: by a worker before, it is unknown when
  // Milliseconds since the start.
  std::int64_t age_ms() const { return std::max<std::int64_t>(ctx_.mono_us() - who.started_us, 0) / 1000; }
  struct {                             // since the last border
    token_usage usage;
    std::int64_t micro = 0;
  } unbilled;
  budget spending;
  std::optional<std::int64_t> balance_micro;  // of the account at the last border
  std::size_t answering = 0;           // which model of the chain was the last to be asked
  std::int64_t narrowed_window = 0;    // tokens that model has turned out to take; 0: as configured
  loop_guard loops;
  bool loops_known = true;             // false: to be read from the messages
  bool dirty = false;                  // known to the log writer
  std::shared_ptr<class workspace> files;  // once a tool needed it or files came with the start, until the end
  bool uploads_waiting = false;        // files came with the start and were not looked at
  std::vector<std::string> sources_missing;  // of tools: the readers know that they could not be listed
  std::set<std::string> images_told;   // keys of images of which the readers know that they cannot be scaled
  bool workspace_withheld_told = false;  // the readers know that the run may not use the workspace
  bool tool_search_told = false;       // the readers know that requests carry a part of the tools
  bool taken_over = false;             // no step was begun here yet: calls may have been begun elsewhere
  bool had_worker = false;             // another worker has carried it: what that kept in memory is not here
  struct {                             // a model answer that another worker left open; to == 0: none
    std::uint64_t from = 0, to = 0;
    std::int64_t attempt = 0;
  } open_turn;

  // Errors on the way, for operators alone: the latest, and no more than a run needs to be understood.
  struct failure_cause {
    std::int64_t at_us;
    std::int32_t step;
    std::string text;
  };
  void note_cause(std::string text);
  std::vector<failure_cause> causes;

  // ---- readers ----
  void attach(reader& r);
  void detach(reader& r);
  // Hands what is deliverable to every reader, now, and to other nodes where a bus carries it.
  void deliver();
  // The same at the end of this turn of the loop: what comes together leaves together.
  void deliver_soon();
  // No more events from here. finished: the terminal event was delivered; else readers look elsewhere.
  enum class ending { finished, left };
  void end(ending how);
  bool ended() const { return ended_; }
  // Open streams that this run serves, also those that read from the log for a while because they are slow.
  std::size_t streams = 0;
  std::string_view final_status() const { return final_status_; }
  void set_final_status(std::string_view status) { final_status_ = status; }

  // ---- interruption ----
  // RY_WHY_*: the strongest of what was asked: lease lost, user, deadline, shutdown. 0: go on.
  std::int32_t why() const { return why_; }
  // Shutdown only asks for the next border; hurry() makes it final.
  void interrupt(std::int32_t why);
  void hurry();
  bool must_break() const { return why_ != 0 && (why_ != RY_WHY_SHUTDOWN || hurried_); }
  std::int64_t shutdown_since_us() const { return shutdown_since_us_; }
  // While it lives, an interruption calls abort(); at once when it is due already.
  class working {
   public:
    working(live_run& run, abortable& what);
    ~working();
    working(const working&) = delete;

   private:
    live_run& run_;
    abortable& what_;
  };

  ry::signal log_moved;  // something became durable, or a wait for it is pointless
  ry::signal over;       // end() was called

 private:
  void abort_all();
  void send_ahead();

  const ry::context& ctx_;
  std::uint64_t sent_;  // the last event that was given to the bus, or that it need not carry
  std::vector<reader*> readers_;
  std::vector<abortable*> active_;
  std::string final_status_ = "running";
  std::int32_t why_ = 0;
  std::int64_t shutdown_since_us_ = 0;
  bool hurried_ = false, delivery_due_ = false, ended_ = false;
};

struct uuid_hash {
  std::size_t operator()(const ry::uuid& u) const noexcept {
    std::uint64_t low;
    std::memcpy(&low, u.bytes + 8, sizeof low);  // the random half of a UUIDv7
    return static_cast<std::size_t>(low);
  }
};

// The live runs of this node by id. Any thread.
class registry {
 public:
  // `size`: a gauge that follows it.
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
  // Only if it is this very one: a take-over may have put another in its place.
  void remove(const live_run& run) {
    std::shared_ptr<live_run> gone;
    std::lock_guard lock(mutex_);
    const auto found = runs_.find(run.who.run);
    if (found == runs_.end() || found->second.get() != &run) return;
    gone = std::move(found->second);
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

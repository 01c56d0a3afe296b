// A run that this node executes: identity, event buffer, attached readers, pending interruption.
//
// Thread: constructed on any; afterwards everything except constant members belongs to `exec`. Lifetime: shared; the
// registry holds it while it is live on this node, coroutines hold it as long as they need it.
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

#include "agent/budget.hpp"
#include "agent/conversation.hpp"
#include "agent/loop_guard.hpp"
#include "settings.hpp"
#include "start/run_mode.hpp"
#include "stream/event_buffer.hpp"
#include "stream/subscriber.hpp"

namespace runs {

// One open stream that is served from memory.
struct reader {
  explicit reader(subscriber& out) : out(out) {}
  subscriber& out;
  ry::signal woken;
  // behind: the next event is not in memory, or the connection is slow.
  enum class state { attached, behind, gone, finished } at = state::attached;
};

// Something that an executor awaits and can cancel. On the run's executor.
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
  model_parameters parameters;  // from the start request
  run_mode mode = run_mode::agent;
  bool memory = true;  // false: the agent gets nothing from outside its thread
  std::int64_t job = 0, fence = 0;
  // Monotonic clock of this node, so that a jump of the wall clock ends no run. If another node began the run, the
  // database reports its age.
  std::int64_t started_us = 0, deadline_us = 0;
};

class live_run : public std::enable_shared_from_this<live_run> {
 public:
  live_run(const ry::context& ctx, run_identity who, ry_exec* exec, std::uint64_t durable, std::uint64_t reserved)
      : who(std::move(who)), exec(exec), buffer(durable, reserved), ctx_(ctx), sent_(durable) {}

  run_identity who;  // job and fence change only when the run is claimed again
  ry_exec* const exec;
  event_buffer buffer;

  // ---- only for the executor ----
  std::vector<chat_message> messages;  // empty: not loaded
  bool messages_known = false;
  std::int32_t step = 0;  // committed model answers
  std::int64_t attempt_base = 0;  // attempts of this step that a crashed worker may have shown
  token_usage usage;  // all usage, charged or not
  std::int64_t charged_micro = 0;
  std::optional<std::int64_t> queue_wait_ms, first_token_ms;  // since the start
  bool text_shown = false;  // clients have seen model text; if first_token_ms is empty, an earlier worker sent it at an
      // unknown time
  // Milliseconds since the start.
  std::int64_t age_ms() const { return std::max<std::int64_t>(ctx_.mono_us() - who.started_us, 0) / 1000; }
  struct {  // since the last checkpoint
    token_usage usage;
    std::int64_t micro = 0;
  } unbilled;
  budget spending;
  std::optional<std::int64_t> balance_micro;  // of the account at the last checkpoint
  std::size_t answering = 0;  // index in the fallback chain of the model that was asked last
  std::int64_t narrowed_window = 0;  // window that the model turned out to have, in tokens; 0: as configured
  loop_guard loops;
  bool loops_known = true;  // false: to be rebuilt from the messages
  bool dirty = false;  // listed in the log writer
  std::shared_ptr<class workspace> files;  // set when a tool needs it or the start came with files; kept until the end
  bool uploads_waiting = false;  // the start's files were not read yet
  std::vector<std::string> sources_missing;  // tool sources that could not be listed; the clients know it
  std::set<std::string> images_told;  // keys of images that cannot be scaled; the clients know it
  bool workspace_withheld_told = false;  // the clients know that the run may not use the workspace
  bool tool_search_told = false;  // the clients know that requests carry only some of the tools
  bool taken_over = false;  // no step was begun here yet; another worker may have begun calls
  bool had_worker = false;  // another worker executed the run before; its memory is lost
  struct {  // an answer that another worker left open; to == 0: none
    std::uint64_t from = 0, to = 0;
    std::int64_t attempt = 0;
  } open_turn;

  // Recent errors of the run, only for operators; bounded.
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
  // Sends all deliverable events to every reader now, and to other nodes if there is a bus.
  void deliver();
  // Does the same at the end of this turn of the event loop, so that events produced together are sent together.
  void deliver_soon();
  // No more events follow. finished: the terminal event was delivered; left: readers must look elsewhere.
  enum class ending { finished, left };
  void end(ending how);
  bool ended() const { return ended_; }
  // Open streams that this run serves, including slow ones that currently read from the log.
  std::size_t streams = 0;
  std::string_view final_status() const { return final_status_; }
  void set_final_status(std::string_view status) { final_status_ = status; }

  // ---- interruption ----
  // RY_REASON_*: the strongest reason so far: lease lost, user, deadline, shutdown. 0: none.
  std::int32_t why() const { return why_; }
  // A shutdown only asks for the next checkpoint; hurry() makes it final.
  void interrupt(std::int32_t why);
  void hurry();
  bool must_break() const { return why_ != 0 && (why_ != RY_REASON_SHUTDOWN || hurried_); }
  std::int64_t shutdown_since_us() const { return shutdown_since_us_; }
  // During its lifetime, an interruption calls abort(), at once if one is already pending.
  class working {
   public:
    working(live_run& run, abortable& what);
    ~working();
    working(const working&) = delete;

   private:
    live_run& run_;
    abortable& what_;
  };

  ry::signal log_moved;  // an event became durable, or waiting for it is pointless
  ry::signal over;  // end() was called

 private:
  void abort_all();
  void send_ahead();

  const ry::context& ctx_;
  std::uint64_t sent_;  // last event that was sent to the bus or does not need it
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

// The live runs of this node by id. Thread: any.
class registry {
 public:
  // `size`: a gauge of the number of entries.
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
  // Removes this object only: a new claim may have registered another one for the same run.
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

// The live topic of a run, on which readers on other nodes get wake-ups.
std::string topic_of(const ry::uuid& run);

}  // namespace runs

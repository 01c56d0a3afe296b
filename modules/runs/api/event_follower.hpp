// Delivers the events of a run to one reader, from any number on and without gaps or repeated events: from the event
// buffer if this node executes the run, otherwise from the log, which it polls at each wake-up and every few seconds. It
// switches between the two at any event.
//
// Thread: a reader of a live run is on the executor of the run; see session.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "run/live_run.hpp"
#include "run_metrics.hpp"
#include "store/repository.hpp"
#include "stream/event_sink.hpp"

namespace runs {

// How a reader gets the events.
struct follow_options {
  std::uint64_t next = 1;  // the first event that the reader does not have
  bool snapshot = false;  // begins with one event that summarizes all events so far
  std::uint64_t merge_ms = 0;  // maximum delay of chunks that are merged; 0: no merging
};
inline constexpr std::uint64_t max_merge_ms = 10'000;

class event_follower {
 public:
  event_follower(const ry::context& ctx, const repository& repo, const registry& live, const run_metrics& metrics)
      : ctx_(ctx), repo_(repo), live_(live), metrics_(metrics) {}

  // yes: the reader is a person's client, so the run's thread counts as being viewed.
  enum class viewer { no, yes };
  // Where a reader begins.
  struct position {
    std::shared_ptr<live_run> live;  // nullptr: this node does not execute the run
    std::uint64_t next = 1;
    std::uint64_t skipped = 0;  // the last event so far, if the reader requested a number beyond it
    bool has_all = false;  // the run has ended, and the reader has all of its events
  };
  // Moves the calling chain to the executor of a live run. Throws a 404 if the run is unknown or belongs to another
  // account.
  ry::task<position> find(ry::uuid run, ry::uuid account, std::uint64_t next);
  // Writes the events to the sink until the terminal event, or until the sink is gone or cancelled, and closes it.
  // Changes the executor of the calling chain. `to` must outlive the task.
  ry::task<void> follow(event_sink& to, ry::uuid run, position at, follow_options options, viewer v);

 private:
  struct session;
  struct remote_source;
  enum class outcome { read_more, caught_up, finished };
  ry::task<event_sink::ending> read_events(session& s, std::shared_ptr<live_run> live);
  ry::task<outcome> read_buffer(session& s, std::shared_ptr<live_run> run);
  ry::task<outcome> serve_attached(session& s, live_run& run);
  ry::task<outcome> read_log(session& s);
  // Announces to other nodes that a client reads this run here, until unwatch().
  ry::task<void> watch(session& s);
  ry::task<void> unwatch(session& s);
  ry::task<outcome> read_remote(session& s, std::shared_ptr<remote_source> remote);
  std::shared_ptr<remote_source> subscribe(const session& s, ry_exec* exec);
  // Sends the snapshot; later events are sent one by one. False: the client has disconnected.
  ry::task<bool> send_snapshot(session& s);
  static std::string_view add_to_snapshot(session& s, std::string_view wire);
  static outcome outcome_after_failed_write(const session& s);

  const ry::context& ctx_;
  const repository& repo_;
  const registry& live_;
  const run_metrics& metrics_;
};

}  // namespace runs

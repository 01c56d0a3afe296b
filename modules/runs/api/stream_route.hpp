// GET /agent-run/{id}/stream and its token. A stream is served from the event buffer of a live run on this node,
// otherwise from the log, which it polls at each wake-up and every few seconds. It switches between the two at any
// sequence number without a gap or a repeated event.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string_view>

#include "stream/live_run.hpp"

namespace runs {

struct module_context;

// The options of a stream request.
struct stream_options {
  std::uint64_t next = 1;  // the first event that the client has not got
  bool snapshot = false;  // first one event that sums up everything so far, then live events
  std::uint64_t merge_ms = 0;  // how long chunks may wait to be merged; 0: no merging
};
// Throws a 400 that names the invalid parameter.
stream_options read_stream_options(const ry::request& request);

class stream_route {
 public:
  explicit stream_route(module_context& p) : context_(p) {}
  ry::task<void> serve(ry::request request);
  ry::task<ry::response> token(ry::request request);

 private:
  struct session;
  struct elsewhere;
  ry::task<std::shared_ptr<live_run>> open(ry::request request, std::optional<session>& s);
  enum class outcome { again, caught_up, over };
  ry::task<void> follow(session& s, std::shared_ptr<live_run> live);
  ry::task<outcome> from_buffer(session& s, std::shared_ptr<live_run> run);
  ry::task<outcome> attached(session& s, live_run& run);
  ry::task<outcome> from_log(session& s);
  // Registers that a client reads this run here, so that other nodes know it, until unwatch().
  ry::task<void> watch(session& s);
  ry::task<void> unwatch(session& s);
  ry::task<outcome> from_elsewhere(session& s, std::shared_ptr<elsewhere> far);
  std::shared_ptr<elsewhere> listen(const session& s, ry_exec* exec);
  // Sends the snapshot and continues event by event. False: the client is gone.
  ry::task<bool> send_snapshot(session& s);
  static std::string_view gather(session& s, std::string_view wire);
  static outcome lost(const session& s);
  module_context& context_;
};

}  // namespace runs

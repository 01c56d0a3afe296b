// GET /agent-run/{id}/stream and its token. A stream is served from the feed of the live run when it is
// on this node, else from the log, looking again at each hint and every few seconds without one. It changes
// between the two at any number without gap or repeat.
#pragma once
#include "parts.hpp"

namespace runs {

// What the client asked for.
struct stream_wish {
  std::uint64_t next = 1;          // the first event that it has not got
  bool snapshot = false;           // everything so far as one event, then live
  std::uint64_t merge_ms = 0;      // chunks may wait so long to be merged; 0: they do not
};
// Throws a 400 that names what is wrong.
stream_wish read_wish(const ry::request& request);

class stream_route {
 public:
  explicit stream_route(parts& p) : parts_(p) {}
  ry::task<void> serve(ry::request request);
  ry::task<ry::response> token(ry::request request);

 private:
  struct session;
  struct elsewhere;
  ry::task<std::shared_ptr<live_run>> open(ry::request request, std::optional<session>& s);
  enum class outcome { again, caught_up, over };
  ry::task<void> follow(session& s, std::shared_ptr<live_run> live);
  ry::task<outcome> from_feed(session& s, std::shared_ptr<live_run> run);
  ry::task<outcome> attached(session& s, live_run& run);
  ry::task<outcome> from_log(session& s);
  // Others learn that somebody reads this run here, until unwatch().
  ry::task<void> watch(session& s);
  ry::task<void> unwatch(session& s);
  ry::task<outcome> from_elsewhere(session& s, std::shared_ptr<elsewhere> far);
  std::shared_ptr<elsewhere> listen(const session& s, ry_exec* exec);
  // Sends what was gathered and goes on event by event. False: the reader is gone.
  ry::task<bool> send_snapshot(session& s);
  static std::string_view gather(session& s, std::string_view wire);
  static outcome lost(const session& s);
  parts& parts_;
};

}  // namespace runs

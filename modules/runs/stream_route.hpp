// GET /agent-run/{id}/stream and its token. A stream is served from the feed of the live run when it is
// on this node, else from the log, looking again at each hint and at least once a second. It changes
// between the two at any number without gap or repeat.
#pragma once
#include "parts.hpp"

namespace runs {

class stream_route {
 public:
  explicit stream_route(parts& p) : parts_(p) {}
  ry::task<void> serve(ry::request request);
  ry::task<ry::response> token(ry::request request);

 private:
  enum class step_result { again, over };
  ry::task<step_result> from_feed(ry::stream& to, std::uint64_t& next, std::shared_ptr<live_run> run);
  // Writes what the log has from `next` on; `caught_up`: it had nothing more.
  ry::task<step_result> from_log(ry::stream& to, std::uint64_t& next, const std::string& run,
                                 bool& caught_up);

  parts& parts_;
};

// Where a reader wants to go on: the number after the last one it has. Throws a 400.
std::uint64_t resume_point(const ry::request& request);

}  // namespace runs

// GET /agent-run/{id}/stream and its token. A stream reads from the event buffer of a live run on this node, otherwise
// from the log, which it polls at each wake-up and every few seconds. It switches between the two at any sequence
// number without gaps or repeated events.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string_view>

#include "run/live_run.hpp"
#include "run_metrics.hpp"
#include "ry/svc/accounts.h"
#include "settings/settings.hpp"
#include "store/repository.hpp"

namespace runs {

// The options of a stream request.
struct stream_options {
  std::uint64_t next = 1;  // the first event that the client has not received
  bool snapshot = false;  // begins with one event that summarises all events so far
  std::uint64_t merge_ms = 0;  // maximum delay of chunks that are merged; 0: no merging
};
// Throws a 400 that names the invalid parameter.
stream_options read_stream_options(const ry::request& request);

class stream_route {
 public:
  stream_route(const ry::context& ctx, const settings& config, const repository& repo,
               const ry::service<ry_accounts_v1>& accounts, const registry& live, const run_metrics& metrics)
      : ctx_(ctx), config_(config), repo_(repo), accounts_(accounts), live_(live), metrics_(metrics) {}
  ry::task<void> serve(ry::request request);
  ry::task<ry::response> token(ry::request request);

 private:
  struct session;
  struct remote_source;
  ry::task<std::shared_ptr<live_run>> open(ry::request request, std::optional<session>& s);
  enum class outcome { read_more, caught_up, finished };
  ry::task<void> follow(session& s, std::shared_ptr<live_run> live);
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
  const settings& config_;
  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  const registry& live_;
  const run_metrics& metrics_;
};

}  // namespace runs

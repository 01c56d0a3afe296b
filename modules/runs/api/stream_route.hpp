// GET /agent-run/{id}/stream and its token.
#pragma once
#include <optional>
#include <ry/ry.hpp>

#include "api/event_follower.hpp"
#include "ry/svc/accounts.h"
#include "settings/settings.hpp"

namespace runs {

// Throws a 400 that names the invalid parameter.
follow_options read_stream_options(const ry::request& request);

class stream_route {
 public:
  stream_route(const ry::context& ctx, const settings& config, const repository& repo,
               const ry::service<ry_accounts_v1>& accounts, const registry& live, event_follower& follower)
      : ctx_(ctx), config_(config), repo_(repo), accounts_(accounts), live_(live), follower_(follower) {}
  ry::task<void> serve(ry::request request);
  ry::task<ry::response> token(ry::request request);

 private:
  ry::task<event_follower::position> open(ry::request request, follow_options options, ry::uuid& run,
                                          std::optional<stream_sink>& sink);

  const ry::context& ctx_;
  const settings& config_;
  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  const registry& live_;
  event_follower& follower_;
};

}  // namespace runs

// The metric runyard_account_limits_reached_total, which all modules share.
#pragma once

#include <ry/ry.hpp>

#include <string>
#include <string_view>

namespace ry {

// Counts how often accounts reached this limit: call add() for each request that is rejected, or entry that is removed,
// because of it. limit: the limited objects in the plural, as in the settings ("threads", "api_keys"). Create it
// together with the module, so that the series exists.
inline metric account_limit(const context& ctx, std::string_view limit) {
  return ctx.metrics().counter("account_limits_reached_total", "", {{"limit", std::string(limit)}});
}

}  // namespace ry

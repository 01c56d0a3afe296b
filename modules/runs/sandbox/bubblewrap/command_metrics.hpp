// Counters that several components of the driver increment, each with different reasons.
#pragma once
#include <ry/ry.hpp>

namespace bubblewrap {

inline ry::metric ended_counter(const ry::context& ctx, const char* reason) {
  return ctx.metrics().counter("terminated_total", "Commands that were terminated because of a limit",
                               {{"reason", reason}});
}

inline ry::metric refused_counter(const ry::context& ctx, const char* reason) {
  return ctx.metrics().counter("refused_total", "Commands and files that were refused", {{"reason", reason}});
}

}  // namespace bubblewrap

// Waiting with a bound.
#pragma once
#include <ry/ry.hpp>

namespace runs {

// Until the signal is set, at most `ms`. All who wait for it wake, so look at what it stands for. On the
// signal's executor.
ry::task<void> wait_for(const ry::context& ctx, ry::signal& what, std::uint64_t ms);

}  // namespace runs

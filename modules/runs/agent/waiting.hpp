// Waiting with a time limit.
#pragma once
#include <ry/ry.hpp>

namespace runs {

// Waits until the signal is set, at most `ms`. The signal wakes all waiters, so check the condition afterwards. Thread:
// the signal's executor.
ry::task<void> wait_for(const ry::context& ctx, ry::signal& signal, std::uint64_t ms);

}  // namespace runs

// Waiting with a time limit, and until a run is interrupted.
#pragma once
#include <cstdint>
#include <memory>
#include <ry/ry.hpp>

#include "run/live_run.hpp"

namespace runs {

// Waits until the signal is set, at most `ms`. The signal wakes all waiters, so check the condition afterwards. Thread:
// the signal's executor.
ry::task<void> wait_for(const ry::context& ctx, ry::signal& signal, std::uint64_t ms);

// Sleeps; an interruption of the run ends the sleep early.
ry::task<void> interruptible_sleep(const ry::context& ctx, std::shared_ptr<live_run> run, std::uint64_t ms);

}  // namespace runs

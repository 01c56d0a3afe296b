// The first process of a container gets the orphans of all others, and has to wait for them when they end. A server that is
// started as process 1 runs in a child of it, so that process 1 has nothing else to do.
#pragma once

#include <optional>

namespace ry::app {

// In process 1: returns in the child, and in the parent once the child has ended, with its exit code (128 and the signal's
// number if a signal ended it). Signals to the parent go on to the child. In any other process: nothing happens. Before
// the first thread is started.
std::optional<int> run_below_init();

}  // namespace ry::app

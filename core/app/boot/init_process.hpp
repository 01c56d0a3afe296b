// The init process of a container inherits all orphaned processes and must reap them. A server that is started as
// process 1 therefore runs in a child, and process 1 only reaps and forwards signals.
#pragma once

#include <optional>

namespace ry::app {

// In process 1: returns in the child, and in the parent once the child has terminated, with its exit code (128 plus the
// signal's number if a signal terminated it). The parent forwards its signals to the child. In any other process it
// does nothing. Must be called before the first thread is started.
std::optional<int> run_below_init();

}  // namespace ry::app

// Errors of batched statements. Pure.
#pragma once
#include <ry/ry.hpp>

namespace runs {

// The error of requests whose statement has not begun when the module stops.
inline ry::error stopping() {
  return ry::unavailable("runs.stopping", "the server is stopping");
}

// Whether a retry can succeed: the database is unavailable or too slow, or a concurrent change conflicted.
inline bool is_transient(const ry::error& e) {
  return e.status() == RY_UNAVAILABLE || e.status() == RY_DEADLINE_EXCEEDED ||
         (e.status() == RY_ABORTED && !e.is("jobs.fence_lost"));
}

}  // namespace runs

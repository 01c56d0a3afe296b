// Errors of the database after which a retry can succeed. Pure.
#pragma once
#include <ry/ry.hpp>

namespace runs {

// The database is unavailable or busy.
inline bool is_transient(const ry::error& e) {
  return e.status() == RY_UNAVAILABLE || e.status() == RY_DEADLINE_EXCEEDED ||
         (e.status() == RY_ABORTED && !e.is("jobs.fence_lost"));
}

}  // namespace runs

// Error helpers of the embedded PostgreSQL, with messages for the operator. Internal to core/db.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/db/failure.hpp"

namespace ry::db::embedded {

// The reason of a failure if no installed version can open the cluster.
inline constexpr const char* wrong_version = "db.embedded_version";

[[noreturn]] inline void refuse(std::string message, const char* reason = "db.embedded") {
  throw failure({RY_FAILED_PRECONDITION, reason, std::move(message), {}, 0, 0});
}

inline std::string last_error() {
  return std::strerror(errno);
}

}  // namespace ry::db::embedded

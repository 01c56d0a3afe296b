// The monotonic clock in milliseconds.
#pragma once
#include <chrono>
#include <cstdint>

namespace ry::db {

inline std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace ry::db

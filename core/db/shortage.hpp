// Records that the database recently refused work because it lacks a resource (SQLSTATE class 53: disk space, memory,
// connections) or is read-only. Logs PostgreSQL's reason, rate-limited.
//
// Threads: any.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "core/db/failure.hpp"
#include "core/observe/log.hpp"

namespace ry::db {

class shortage_record {
 public:
  void note(const failure& f) noexcept {
    if (!f.sqlstate.starts_with("53") && !f.is("25006")) return;
    try {
      const auto now = clock::now();
      std::lock_guard lock(mutex_);
      const bool silent = last_ && now - logged_ < between_lines;
      last_ = now;
      if (silent) return;
      logged_ = now;
      observe::log(observe::level::error, "db", "the database refuses work", {{"reason", f.what()}});
    } catch (...) {
      // A failure to log must not hide the original failure, which the caller gets.
    }
  }
  // True if that happened within the last minute.
  bool is_recent() const {
    std::lock_guard lock(mutex_);
    return last_ && clock::now() - *last_ < std::chrono::minutes(1);
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr auto between_lines = std::chrono::seconds(10);

  mutable std::mutex mutex_;
  std::optional<clock::time_point> last_;
  clock::time_point logged_{};
};

}  // namespace ry::db

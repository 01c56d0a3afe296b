// Checks on demand whether the database answers. Internal to core/db.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "core/db/pool.hpp"

namespace ry::db {

// A server whose processes are stopped keeps its connections open, so the pool considers it healthy. The check sends
// a trivial statement over a housekeeping connection and over an ordinary one, so that one long statement cannot make
// it fail.
class liveness {
 public:
  explicit liveness(pool& workers) : workers_(workers) {}

  // Single-flight: concurrent callers share one check and wait until `limit` after its start. While the database does
  // not respond, callers therefore get false immediately. [any]
  bool answers_within(std::chrono::milliseconds limit);

 private:
  struct question;

  std::shared_ptr<question> current();

  pool& workers_;
  std::mutex mutex_;
  std::shared_ptr<question> asked_;
};

}  // namespace ry::db

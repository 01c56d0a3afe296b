// Whether the database answers, asked on demand. Internal to the room.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "core/db/pool.hpp"

namespace ry::db {

// A server whose processes are stopped keeps its connections, so that the pool takes it for healthy. A question is a trivial
// statement, sent by a connection for housekeeping and by an ordinary one: a long statement on either is no reason.
class liveness {
 public:
  explicit liveness(pool& workers) : workers_(workers) {}

  // One question at a time: callers that come meanwhile wait for the same answer, until `limit` after it was asked. A false
  // answer therefore comes at once while the database goes on not answering. [any]
  bool answers_within(std::chrono::milliseconds limit);

 private:
  struct question;

  std::shared_ptr<question> current();

  pool& workers_;
  std::mutex mutex_;
  std::shared_ptr<question> asked_;
};

}  // namespace ry::db

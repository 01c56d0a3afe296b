// Opens the sessions of one connection, each on a separate thread: while SOCI connects, it waits for the server
// without a time limit, and the socket is not accessible yet. If the server hangs at this point, only that thread is
// blocked forever.
#pragma once

#include <memory>
#include <mutex>
#include <string>

namespace soci {
class session;
}

namespace ry::db {

class session_opener {
 public:
  // Blocks for at most 15 s. Throws failure (RY_UNAVAILABLE).
  std::unique_ptr<soci::session> open(const std::string& conninfo);
  // Makes a pending open() fail immediately. From any thread; does not block.
  void abandon() noexcept;

 private:
  struct attempt;

  bool failed_before_ = false;
  std::mutex mutex_;  // guards now_
  std::weak_ptr<attempt> now_;
};

}  // namespace ry::db

// Makes the sessions of one connection, each on a thread of its own: SOCI asks the server something while
// it connects, without any limit, and nobody knows the socket yet. A server that hangs just then holds
// that thread for good and nobody else.
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
  // Blocks until there is one, for 15 s at most. Throws failure (RY_UNAVAILABLE).
  std::unique_ptr<soci::session> open(const std::string& conninfo);
  // Whoever is in open() fails now. From any thread, does not block.
  void give_up() noexcept;

 private:
  struct attempt;

  bool failed_before_ = false;
  std::mutex mutex_;  // guards now_
  std::weak_ptr<attempt> now_;
};

}  // namespace ry::db

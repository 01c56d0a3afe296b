// Notices a server that is there and does not answer: stopped, hung, behind a network that swallows
// packets. TCP and libpq wait for such a server for ever. Internal to the room.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/db/connection.hpp"

namespace ry::db {

class watchdog {
 public:
  // The connections outlive it, or stop() is called before they go. answers: asks the server by connections that are open;
  // false: it did not answer within ping_limit.
  watchdog(const connect_settings& s, std::vector<connection*> watched, std::function<bool()> answers);
  ~watchdog();  // stop()
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  // Ends the thread, within twice `ping_limit`.
  void stop();

  // No answer from any connection to a server for that long while one waits: that server is asked
  // for a sign of life, by a new connection and then by those that are open. Without one in `ping_limit` every connection
  // to it is severed: where only the processes behind them are stopped, new ones are served.
  static constexpr std::chrono::milliseconds silence{1'500};
  static constexpr std::chrono::seconds ping_limit{3};
  static constexpr std::chrono::milliseconds ping_pause{2'000};  // a long statement is no reason
  // Over the time in which the server should have ended a statement itself: that one is severed.
  static constexpr std::chrono::milliseconds overtime{10'000};

 private:
  void loop();
  std::vector<std::string> silent() const;  // servers, see connection::activity
  void look();

  const std::string ping_;  // conninfo
  const std::vector<connection*> watched_;
  const std::function<bool()> answers_;
  std::chrono::steady_clock::time_point asked_{};  // only on the thread
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace ry::db

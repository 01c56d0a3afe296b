// Detects a server that keeps its connections but does not answer: stopped, hung, or behind a network that drops
// packets. TCP and libpq would wait for it forever. Internal to core/db.
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
  // The connections must outlive the watchdog, or stop() must be called first. `answers`: queries the server over open
  // connections; returns false if it does not respond within ping_limit.
  watchdog(const connect_settings& s, std::vector<connection*> watched, std::function<bool()> answers);
  ~watchdog();  // stop()
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  // Stops the thread within twice `ping_limit`.
  void stop();

  // If a connection waits and no connection to its server has been answered for `silence`, the watchdog probes that
  // server, with a new connection and then over the open ones. If it does not answer within `ping_limit`, all
  // connections to it are severed. If only the processes behind them are stopped, new connections work.
  static constexpr std::chrono::milliseconds silence{1'500};
  static constexpr std::chrono::seconds ping_limit{3};
  static constexpr std::chrono::milliseconds ping_pause{2'000};  // between probes: a long statement looks silent too
  // A connection is severed if its statement runs `overtime` longer than the server's own limit allows.
  static constexpr std::chrono::milliseconds overtime{10'000};

 private:
  void loop();
  std::vector<std::string> silent() const;  // servers (see connection::activity) that do not answer
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

// The interface to a service manager (systemd or one with the same protocol): inherited listening sockets
// (LISTEN_FDS), state notifications (NOTIFY_SOCKET) and the watchdog (WATCHDOG_USEC). Without a service manager it
// does nothing.
//
// libsystemd is not used: the protocol is a single text datagram, and the library would pull further shared libraries
// into a process whose modules bring their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/exec/loop.hpp"
#include "core/http/listener.hpp"

namespace ry::app {

// Threads: the constructor runs before other threads exist, because it removes the variables from the environment
// (child processes would inherit them). All other members may be called from any thread.
class service_manager {
 public:
  service_manager();

  // The socket to serve on; nullopt: none was passed. May be called once. Throws std::runtime_error with a message for
  // the operator if it is not a listening TCP socket, or if there are several.
  std::optional<http::listener> take_listener();

  void starting(std::string_view what) const;
  // Like starting(), and extends the start timeout by one minute from now, regardless of TimeoutStartSec=.
  void extend_start_timeout(std::string_view what) const;
  void ready(std::string_view url) const;  // also ends reloading()
  void reloading() const;
  void stopping() const;
  // Sends state lines, e.g. "STATUS=...". A failure to send is logged once.
  void notify(const std::string& state) const;
  // The watchdog timeout after which the manager restarts the server; 0: no watchdog.
  std::chrono::microseconds watchdog() const noexcept { return watchdog_; }

 private:
  std::string address_;
  std::chrono::microseconds watchdog_{0};
  int sockets_ = 0;
  mutable std::once_flag failure_logged_;
};

// The watchdog heartbeat: notifies the manager three times per timeout, as long as every event loop responds.
// Destroyed before the loops.
class watchdog_heartbeat {
 public:
  watchdog_heartbeat(const service_manager& manager, exec::loop_pool& loops);
  ~watchdog_heartbeat();
  watchdog_heartbeat(const watchdog_heartbeat&) = delete;
  watchdog_heartbeat& operator=(const watchdog_heartbeat&) = delete;

 private:
  void heartbeat();
  bool all_loops_responsive();

  const service_manager& manager_;
  exec::loop_pool& loops_;
  const std::chrono::microseconds interval_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace ry::app

// What a service manager (systemd or one that speaks its protocol) gave this process, and what it is told:
// sockets that listen already (LISTEN_FDS), the state of the server (NOTIFY_SOCKET) and signs of life
// (WATCHDOG_USEC). Without one all of it is nothing.
//
// The protocol is a line of text in a datagram; libsystemd would bring its own libraries for that into a
// process whose modules have theirs.
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

// Threads: the constructor before there are others, as it takes the variables out of the environment
// (children would think them theirs); tell() and the others any.
class service_manager {
 public:
  service_manager();

  // The socket to serve on; nullopt: none was passed. Once. Throws std::runtime_error with a sentence: it is
  // no TCP socket that listens, or there are several.
  std::optional<http::listener> take_listener();

  void starting(std::string_view what) const;
  // The same, and the start may take another minute from now on, whatever TimeoutStartSec= says.
  void still_starting(std::string_view what) const;
  void ready(std::string_view url) const;  // also the end of reloading()
  void reloading() const;
  void stopping() const;
  // State in lines, e.g. "STATUS=...". What cannot be sent is told in the log, once.
  void tell(const std::string& state) const;
  // How long it may hear nothing until it restarts the server; 0: it does not care.
  std::chrono::microseconds watchdog() const noexcept { return watchdog_; }

 private:
  std::string address_;
  std::chrono::microseconds watchdog_{0};
  int sockets_ = 0;
  mutable std::once_flag complained_;
};

// Tells the manager three times within its patience that the server lives, as long as every event loop
// answers. Destroyed before the loops.
class signs_of_life {
 public:
  signs_of_life(const service_manager& manager, exec::loop_pool& loops);
  ~signs_of_life();
  signs_of_life(const signs_of_life&) = delete;
  signs_of_life& operator=(const signs_of_life&) = delete;

 private:
  void beat();
  bool loops_answer();

  const service_manager& manager_;
  exec::loop_pool& loops_;
  const std::chrono::microseconds interval_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace ry::app

// SIGTERM and SIGINT as a request to stop; another one a second or more later ends the
// process at once. Until then the waiting thread does what others post to it. SIGHUP is a request to
// stop where a terminal went away, and else calls what on_hangup() was given.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ry::app {

class signals {
 public:
  // Blocks the signals in this thread, and so in all that are started from now on: make it first.
  signals();
  ~signals();
  signals(const signals&) = delete;
  signals& operator=(const signals&) = delete;

  bool requested() const noexcept { return requested_.load(); }  // [any]
  // Runs what is posted until requested(); what is left then is destroyed without being run.
  void wait();
  // What the waiting thread does on SIGHUP; nothing until then. [any]
  void on_hangup(std::function<void()> work);
  // False: nobody will run it. [any]
  bool post(std::function<void()> work);

 private:
  void listen();

  std::atomic<bool> requested_{false}, ended_{false};
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> posted_;
  std::function<void()> hangup_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace ry::app

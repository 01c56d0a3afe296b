// Handles signals on the main thread. SIGTERM and SIGINT request a stop; a second one at least a second later
// terminates the process immediately. Until then the waiting thread runs posted work. SIGHUP requests a stop if a
// terminal was closed, and otherwise runs the on_hangup() function.
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
  // Blocks the signals in this thread and in all threads started later, so it must be created first.
  signals();
  ~signals();
  signals(const signals&) = delete;
  signals& operator=(const signals&) = delete;

  bool requested() const noexcept { return requested_.load(); }  // [any]
  // Runs posted work until requested(); the remaining work is destroyed without being run.
  void wait();
  // Sets the function that the waiting thread runs on SIGHUP; none by default. [any]
  void on_hangup(std::function<void()> work);
  // Returns false if the work will not run. [any]
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

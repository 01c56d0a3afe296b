// SIGTERM and SIGINT as a request to stop; the second one ends the process at once.
#pragma once

#include <atomic>
#include <condition_variable>
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
  void wait();                                                   // until requested()

 private:
  void listen();

  std::atomic<bool> requested_{false}, ended_{false};
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::thread thread_;
};

}  // namespace ry::app

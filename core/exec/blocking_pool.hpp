// Threads that may block: libraries without an asynchronous interface, slow file work.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ry::exec {

enum class submitted { yes, queue_full, stopped };

// Threads: all members [any] but stop_and_join().
class blocking_pool {
 public:
  // Starts `threads` threads (0 = 4); at most `max_queued` pieces of work wait.
  explicit blocking_pool(std::size_t threads = 0, std::size_t max_queued = 10'000);
  ~blocking_pool();  // stop_and_join

  // Runs `work` on one of the threads. It must not throw. Anything but `yes`: it will never run.
  submitted submit(std::function<void()> work);
  std::size_t queued() const;
  // Refuses new work, runs what was accepted, joins. Not from one of its threads.
  void stop_and_join();

 private:
  void run();

  const std::size_t max_queued_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ry::exec

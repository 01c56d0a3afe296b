// A bounded pool of threads for work that blocks: libraries without an asynchronous interface, slow file access.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ry::exec {

enum class submit_result { yes, queue_full, stopped };

// Threads: all members are [any], except stop_and_join().
class blocking_pool {
 public:
  // Starts `threads` threads (0 = 4). The queue holds at most `max_queued` tasks.
  explicit blocking_pool(std::size_t threads = 0, std::size_t max_queued = 10'000);
  ~blocking_pool();  // stop_and_join

  // Runs `work` on one of the threads. `work` must not throw. Unless this returns `yes`, the pool never runs it.
  submit_result submit(std::function<void()> work);
  std::size_t queued() const;
  // Rejects new work, runs the queued work and joins the threads. Must not be called from one of them.
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

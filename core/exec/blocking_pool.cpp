#include "core/exec/blocking_pool.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <utility>

namespace ry::exec {

namespace {

// CPU-bound work (password hashes, scans, parsers) must not starve the event loops and the database, whose callers
// expect answers within milliseconds. On Linux a nice value is per thread. If setpriority() fails, the threads keep
// their priority.
void lower_thread_priority() {
  constexpr int steps = 10, lowest = 19;
  const int now = ::getpriority(PRIO_PROCESS, 0);
  (void)::setpriority(PRIO_PROCESS, 0, std::min(now + steps, lowest));
}

}  // namespace

blocking_pool::blocking_pool(std::size_t threads, std::size_t max_queued) : max_queued_(max_queued) {
  if (threads == 0) threads = 4;
  for (std::size_t i = 0; i < threads; ++i)
    threads_.emplace_back([this, i] {
      pthread_setname_np(pthread_self(), ("blocking-" + std::to_string(i)).c_str());
      lower_thread_priority();
      run();
    });
}

blocking_pool::~blocking_pool() {
  stop_and_join();
}

submit_result blocking_pool::submit(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return submit_result::stopped;
    if (queue_.size() >= max_queued_) return submit_result::queue_full;
    queue_.push_back(std::move(work));
  }
  wake_.notify_one();
  return submit_result::yes;
}

std::size_t blocking_pool::queued() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

void blocking_pool::run() {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

void blocking_pool::stop_and_join() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& t : threads_)
    if (t.joinable()) t.join();
}

}  // namespace ry::exec

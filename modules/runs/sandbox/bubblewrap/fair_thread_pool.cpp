#include "fair_thread_pool.hpp"

#include <utility>

namespace bubblewrap {

fair_thread_pool::~fair_thread_pool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread& each : threads_) each.join();
}

bool fair_thread_pool::submit(const std::string& account, std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (waiting_ >= max_waiting_) return false;
  while (threads_.size() < n_threads_) threads_.emplace_back([this] { run(); });
  auto& queue = accounts_[account];
  queue.push_back(std::move(work));
  ++waiting_;
  if (queue.size() > 1) return true;
  ready_.push_back(account);
  changed_.notify_one();
  return true;
}

void fair_thread_pool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    if (ready_.empty()) return;
    const std::string account = std::move(ready_.front());
    ready_.pop_front();
    const auto queue = accounts_.find(account);
    const std::function<void()> work = std::move(queue->second.front());
    --waiting_;
    lock.unlock();
    work();
    lock.lock();
    queue->second.pop_front();
    if (queue->second.empty()) {
      accounts_.erase(queue);
      continue;
    }
    ready_.push_back(account);
    changed_.notify_one();
  }
}

}  // namespace bubblewrap

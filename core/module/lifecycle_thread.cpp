#include "core/module/lifecycle_thread.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace ry::module {

// Shared with the thread, which may outlive the lifecycle_thread.
struct lifecycle_thread::worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> call;
  std::shared_ptr<latch> back;
  bool ended = false;

  void run() {
    ::pthread_setname_np(::pthread_self(), "lifecycle");
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return ended || call; });
      if (!call) return;
      auto now = std::exchange(call, {});
      const auto waiter = std::exchange(back, {});
      lock.unlock();
      now();
      now = {};
      waiter->open();
      lock.lock();
    }
  }
  void end() {
    std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }
};

lifecycle_thread::~lifecycle_thread() {
  if (thread_.joinable()) {
    worker_->end();
    thread_.join();
  }
  for (auto& l : lost_) {
    if (l.back->is_open())
      l.thread.join();
    else
      l.thread.detach();
  }
}

std::shared_ptr<latch> lifecycle_thread::begin(std::function<void()> call) {
  if (!worker_) {
    worker_ = std::make_shared<worker>();
    thread_ = std::thread([w = worker_] { w->run(); });
  }
  last_ = std::make_shared<latch>();
  std::lock_guard lock(worker_->mutex);
  worker_->call = std::move(call);
  worker_->back = last_;
  worker_->changed.notify_all();
  return last_;
}

void lifecycle_thread::abandon() {
  worker_->end();
  std::lock_guard lock(mutex_);
  lost_.push_back({std::move(thread_), last_});
  worker_.reset();
}

std::size_t lifecycle_thread::not_back() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(lost_.begin(), lost_.end(), [](const lost& l) { return !l.back->is_open(); }));
}

}  // namespace ry::module

#include "core/exec/loop.hpp"

#include <pthread.h>

#include <string>

#include "core/exec/resource_limits.hpp"

namespace {
thread_local ry_exec* t_current = nullptr;
}

ry_exec* ry_exec::current() noexcept {
  return t_current;
}

namespace ry::exec {

loop_pool::loop_pool(std::size_t n) {
  if (n == 0) n = usable_cores();  // with more loops than cores, loops only preempt each other
  for (std::size_t i = 0; i < n; ++i) {
    loops_.push_back(std::make_unique<loop>(i));
    guards_.push_back(boost::asio::make_work_guard(loops_.back()->ctx));
  }
  for (auto& l : loops_) {
    threads_.emplace_back([lp = l.get()] {
      t_current = lp;
      pthread_setname_np(pthread_self(), ("loop-" + std::to_string(lp->index)).c_str());
      lp->ctx.run();
      t_current = nullptr;
    });
  }
}

loop_pool::~loop_pool() {
  stop_and_join();
}

loop& loop_pool::pick() noexcept {
  return *loops_[next_.fetch_add(1, std::memory_order_relaxed) % loops_.size()];
}

void loop_pool::stop_and_join() {
  guards_.clear();
  for (auto& l : loops_) l->ctx.stop();
  for (auto& t : threads_)
    if (t.joinable()) t.join();
}

}  // namespace ry::exec

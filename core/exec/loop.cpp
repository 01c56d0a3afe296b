#include "core/exec/loop.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>

namespace {
thread_local ry_exec* t_current = nullptr;
}

ry_exec* ry_exec::current() noexcept { return t_current; }

namespace ry::exec {

namespace {

// More loops than cores only hand work to each other.
std::size_t own_cores() {
  // It fails as long as the machine has more cores than the set has room for.
  for (std::size_t room = CPU_SETSIZE; room <= 1024 * CPU_SETSIZE; room *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(room), [](cpu_set_t* s) { CPU_FREE(s); });
    if (!set) break;
    const std::size_t size = CPU_ALLOC_SIZE(room);
    if (::sched_getaffinity(0, size, set.get()) == 0)
      return static_cast<std::size_t>(std::max(1, CPU_COUNT_S(size, set.get())));
    if (errno != EINVAL) break;
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

loop_pool::loop_pool(std::size_t n) {
  if (n == 0) n = own_cores();
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

loop_pool::~loop_pool() { stop_and_join(); }

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

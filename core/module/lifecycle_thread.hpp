// The thread that makes the lifecycle calls of modules: create, start, drivers, stop, destroy. A module that does not
// return from a call keeps its thread, and the next call gets a new one, so that it does not block the others.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/module/latch.hpp"

namespace ry::module {

// Time limits of lifecycle calls.
struct lifecycle_limits {
  std::chrono::milliseconds create = std::chrono::seconds(30);
  std::chrono::milliseconds start = std::chrono::seconds(60);
  // stop, destroy and driver callbacks. For stop it is the minimum: stop also has until its deadline.
  std::chrono::milliseconds other = std::chrono::seconds(5);
};

// Threads: one; not_back() [any].
class lifecycle_thread {
 public:
  lifecycle_thread() = default;
  // Does not wait for abandoned calls.
  ~lifecycle_thread();
  lifecycle_thread(const lifecycle_thread&) = delete;
  lifecycle_thread& operator=(const lifecycle_thread&) = delete;

  // Runs the call on the thread; the latch opens when it returns. Requires that the last call has returned or was
  // abandoned.
  std::shared_ptr<latch> begin(std::function<void()> call);
  // Abandons the last call. Everything it uses must live until the process ends.
  void abandon();
  // Number of abandoned calls that have not returned. [any]
  std::size_t not_back() const;

 private:
  struct worker;
  struct lost {
    std::thread thread;
    std::shared_ptr<latch> back;
  };

  std::shared_ptr<worker> worker_;
  std::thread thread_;
  std::shared_ptr<latch> last_;
  mutable std::mutex mutex_;  // guards lost_
  std::vector<lost> lost_;
};

}  // namespace ry::module

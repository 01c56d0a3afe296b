// The thread on which modules are created, started, told of drivers, stopped and destroyed, so that one that does not
// come back from such a call holds up nobody: the thread is left to it, and the next call gets another.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/module/latch.hpp"

namespace ry::module {

// How long a module may stay in a call before it is given up.
struct lifecycle_limits {
  std::chrono::milliseconds create = std::chrono::seconds(30);
  std::chrono::milliseconds start = std::chrono::seconds(60);
  // stop and destroy, and being told of a driver. Of stop it is the least: it has until the deadline it was given.
  std::chrono::milliseconds other = std::chrono::seconds(5);
};

// Threads: one, but not_back().
class lifecycle_thread {
 public:
  lifecycle_thread() = default;
  // Does not wait for calls that were given up.
  ~lifecycle_thread();
  lifecycle_thread(const lifecycle_thread&) = delete;
  lifecycle_thread& operator=(const lifecycle_thread&) = delete;

  // Lets the thread make the call; the latch opens when it is back. Not before the last call is back or given up.
  std::shared_ptr<latch> begin(std::function<void()> call);
  // The last call is not waited for any more. What it uses must live until the process ends.
  void give_up();
  // Calls that were given up and are still not back. [any]
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
  mutable std::mutex mutex_;  // of lost_
  std::vector<lost> lost_;
};

}  // namespace ry::module

// The completion (ry_done) of a lifecycle call of a module: stop, or a removed or replaced driver. The first call
// completes it. Each further call violates the module contract; it is reported with the module's name and has no
// other effect.
//
// Threads: any. Outlives the module's code: the registry keeps it, because code that stays mapped may call it at any
// time.
#pragma once

#include <ry/abi.h>

#include <chrono>
#include <mutex>

#include "core/module/latch.hpp"

namespace ry::module {

class lifecycle_completion {
 public:
  // `call` is a literal for the log.
  lifecycle_completion(ry_host* module, const char* call);

  ry_done done() noexcept;
  bool is_complete() const noexcept { return completed_.is_open(); }
  // Returns false on timeout.
  bool wait_until(std::chrono::steady_clock::time_point deadline) { return completed_.wait_until(deadline); }
  // Call before the module's host is destroyed: later violations are attributed to the module whose code is on the
  // stack.
  void forget_module() noexcept;

 private:
  void complete() noexcept;

  const char* const call_;
  latch completed_;
  std::mutex mutex_;  // guards the two members below
  ry_host* module_;
  bool called_ = false;
};

}  // namespace ry::module

// The completion (ry_done) that the host passes to a module with a call of its lifecycle: stop, or a driver that was
// removed or replaced. The first call of it opens the completion. Each further call breaks the module contract; it is
// reported with the module's name and has no other effect.
//
// Threads: any. Outlives the module's code: the registry keeps it, because code that stays mapped may call it at any time.
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
  // False: the time is over.
  bool wait_until(std::chrono::steady_clock::time_point deadline) { return completed_.wait_until(deadline); }
  // Before the module's host is destroyed: later violations are attributed to the module whose code is on the stack.
  void forget_module() noexcept;

 private:
  void complete() noexcept;

  const char* const call_;
  latch completed_;
  std::mutex mutex_;  // of the two below
  ry_host* module_;
  bool called_ = false;
};

}  // namespace ry::module

// The timer registry: pending timers of ry.core/1 sleep_ms by module, so that stopping a module can wake all of them.
#pragma once

#include <ry/abi.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

struct ry_host;

namespace ry::module {

// Threads: all members [any].
class timer_registry {
 public:
  // Completes `done` on exec after `ms`, or earlier with RY_CANCELLED after op_cancel or cancel_all.
  ry_status start(const ry_host* host, ry_exec* exec, std::uint64_t ms, ry_done done, ry_op_id* op);
  // Cancels all timers of `host`; each completes with RY_CANCELLED.
  void cancel_all(const ry_host* host);

 private:
  void forget(const ry_host* host, ry_op_id id);

  std::mutex mutex_;
  std::unordered_map<const ry_host*, std::unordered_set<ry_op_id>> by_host_;
};

}  // namespace ry::module

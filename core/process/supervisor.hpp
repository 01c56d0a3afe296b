// Starts and supervises child processes; implements ry.process/1.
//
// Lifetime: created before the first module; stop() while the loops still run; destroyed after they were joined and
// before they are destroyed. The loop that calls spawn() starts the child; for other threads the supervisor's own
// thread does, because the kernel kills a child when the *thread* that started it ends. spawn() usually takes well
// under a millisecond. SIGPIPE is ignored in the whole process from construction on.
#pragma once

#include <ry/if/process.h>

#include <memory>
#include <string_view>

#include "core/exec/loop.hpp"
#include "core/module/host.hpp"

namespace ry::process {

class supervisor {
 public:
  explicit supervisor(exec::loop_pool& loops);
  ~supervisor();
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  // ry.process/1; `host` may be nullptr for the host's own children. The caller ends the handle with release().
  // [any]
  ry_status spawn(const ry_host* host, ry_exec* exec, const ry_process_spec& spec, const ry_process_handler& handler,
                  void* ctx, ry_process** out, ry_errbuf* err);

  // Refuses new children and kills all running ones; their on_exit is still called. [any]
  void stop();
  // The number of children that are not reaped yet. [any]
  std::size_t alive() const;

  struct impl;

 private:
  std::shared_ptr<impl> impl_;
};

// The ABI table of ry.process/1. spawn() finds the supervisor through host->rt. [any]
const ry_process_v1& process_v1() noexcept;

}  // namespace ry::process

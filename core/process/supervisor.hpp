// Child processes behind ry.process/1.
//
// Lifetime: made before the first module is created; stop() while the loops still run, destroyed
// after they were joined and before they are destroyed. Starting happens on the loop that asks for it,
// or for other threads on one of its own, because the kernel ends a child with the *thread* that
// started it; spawn() takes well under a millisecond as a rule. SIGPIPE is ignored in the whole process from construction on.
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

  // ry.process/1; `host` may be nullptr for the host's own children. The handle is ended by
  // release(). [any]
  ry_status spawn(const ry_host* host, ry_exec* exec, const ry_process_spec& spec,
                  const ry_process_handler& handler, void* ctx, ry_process** out, ry_errbuf* err);

  // Refuses new children and kills all that live; their on_exit still comes. [any]
  void stop();
  // Children that are not reaped yet. [any]
  std::size_t alive() const;

  struct impl;

 private:
  std::shared_ptr<impl> impl_;
};

// The table of ry.process/1; spawn reaches the supervisor through the caller's runtime.
const ry_process_v1& process_interface() noexcept;

}  // namespace ry::process

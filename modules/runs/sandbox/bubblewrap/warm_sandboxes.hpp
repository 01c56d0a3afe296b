// Starts sandboxes in advance for local MCP programs and assigns programs to them; warm_pool records which ones wait.
// Thread: any, unless a function specifies otherwise.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "command_call.hpp"
#include "command_groups.hpp"
#include "command_line.hpp"
#include "warm_pool.hpp"

namespace bubblewrap {

// Starts and releases processes for warm_sandboxes.
class sandbox_starter {
 public:
  virtual ry_status spawn(command_call& call, const std::vector<std::string>& words, const std::string& directory,
                          const std::vector<std::string>& environment, std::uint64_t wall_ms, ry_exec* exec,
                          ry_errbuf* err) = 0;
  virtual void release(command_call* call) noexcept = 0;

 protected:
  ~sandbox_starter() = default;
};

class warm_sandboxes {
 public:
  warm_sandboxes(ry::context& ctx, sandbox_starter& starter, command_groups& groups, warm_limits limits)
      : ctx_(ctx), process_(ctx.interface<ry_process_v1>()), starter_(starter), groups_(groups), pool_(limits) {}

  bool enabled() const { return pool_.enabled(); }
  // Sends a start request for this command to a warm sandbox and returns the sandbox; nullptr: there is none. [exec]
  command_call* claim(const sandbox_kind& kind, const command_spec& spec, const std::string& account,
                      const std::vector<std::string>& environment, ry_exec* exec);
  // Orders the successor of the command's sandbox. To be called after the program's work, so that the start does not
  // slow the program down. [exec]
  void prepare_next(command_call& call) noexcept;
  // To be called if a sandbox exits before a program was assigned. [exec]
  void ended(command_call* call, std::int32_t code) noexcept;
  // Terminates the waiting sandboxes; no more are started.
  void close() { terminate(pool_.close()); }

 private:
  using clock = std::chrono::steady_clock;

  // A sandbox that the pool has ordered. The pool is notified of the outcome, even if the sandbox is never started.
  class order {
   public:
    order(warm_sandboxes& of, std::shared_ptr<const sandbox_kind> kind, ry_exec* exec,
          std::uint64_t generation) noexcept
        : of_(&of), kind_(std::move(kind)), exec_(exec), generation_(generation) {}
    order(order&& o) noexcept
        : of_(std::exchange(o.of_, nullptr)), kind_(std::move(o.kind_)), exec_(o.exec_), generation_(o.generation_) {}
    order& operator=(order&&) = delete;
    ~order() { complete(nullptr); }

    const sandbox_kind& kind() const noexcept { return *kind_; }
    ry_exec* exec() const noexcept { return exec_; }
    void complete(command_call* sandbox) noexcept;

   private:
    warm_sandboxes* of_;
    std::shared_ptr<const sandbox_kind> kind_;
    ry_exec* exec_;
    std::uint64_t generation_;
  };

  ry::task<void> prepare(order o);
  ry::task<void> expire();
  void terminate(const std::vector<command_call*>& sandboxes);

  ry::context& ctx_;
  const ry_process_v1& process_;
  sandbox_starter& starter_;
  command_groups& groups_;
  warm_pool<command_call, ry_exec> pool_;
  const mount_table mounts_;
  std::mutex claim_mutex_;
  std::atomic<bool> expiring_{false};
};

}  // namespace bubblewrap

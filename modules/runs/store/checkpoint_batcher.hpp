// Checkpoint batcher: commits the checkpoints of all runs of this node together. Checkpoints that arrive while a
// statement runs go into the next one. Under load a commit carries many steps; without load a checkpoint waits only
// until the current turn of its event loop ends.
//
// Thread: any executor; write() resumes on the run's executor. Lifetime: as long as the module.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <ry/cpp/trace.hpp>

#include "start/account_locks.hpp"
#include "store/later.hpp"
#include "store/repository.hpp"
#include "store/statement_pace.hpp"
#include "store/turn_end.hpp"

namespace runs {

class checkpoint_batcher {
 public:
  checkpoint_batcher(const ry::context& ctx, const repository& repo, account_locks& gate)
      : ctx_(ctx), repo_(repo), gate_(gate) {
    gate_.on_left([this] { pump(); });
  }

  // Returns the errors of repository::persist. If the task is cancelled meanwhile, the step may have been written.
  ry::task<ry::result<step_result>> write(checkpoint_step step, ry_exec* exec);

 private:
  struct entry {
    checkpoint_step step;
    ry_exec* exec = nullptr;
    // Only on exec.
    std::optional<ry::result<step_result>> out;
    ry::signal written;
    const ry::trace trace;  // restored when the entry continues
    explicit entry(const ry::context& ctx) : trace(ry::trace::current(ctx)) {}
  };
  using entry_ptr = std::shared_ptr<entry>;

  static constexpr std::size_t batch_limit = 64;

  // Begins the next statement, if its time has come.
  void pump();
  // The entries that wait longest and whose accounts no other statement holds.
  std::vector<entry_ptr> next_batch();
  void leave(std::span<const entry_ptr> entries);
  bool spawn(ry::task<void> t, ry_exec* exec) const;
  ry::task<ry::result<std::vector<step_result>>> put(std::span<const checkpoint_step* const> steps,
                                                     repository::on_lock how) const;
  ry::task<void> write_batch(std::vector<entry_ptr> batch);
  ry::task<void> write_alone(entry_ptr e);
  void settle(const entry_ptr& e, ry::result<step_result> out) const;

  const ry::context& ctx_;
  const repository& repo_;
  account_locks& gate_;
  std::mutex mutex_;
  std::deque<entry_ptr> waiting_;
  statement_pace pace_{batch_limit};
  turn_end soon_{ctx_, [this] { pump(); }};
  later look_again_{ctx_, statement_pace::slow_us / 1000, [this] { pump(); }};
};

}  // namespace runs

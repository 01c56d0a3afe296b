// Start batcher: decides starts together (group commit). Starts that arrive while a statement runs go into the next
// one. Under load a commit carries many starts; without load a start waits only until the current turn of its event
// loop ends. Starts of new threads, which are the majority, share a statement, also several of one account; a start
// that cannot be made this way gets a statement of its own.
//
// Thread: any executor; start() resumes on the caller's executor. Lifetime: as long as the module.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <ry/cpp/trace.hpp>
#include <string>

#include "start/account_locks.hpp"
#include "store/later.hpp"
#include "store/repository.hpp"
#include "store/statement_pace.hpp"
#include "store/turn_end.hpp"

namespace runs {

class start_queue {
 public:
  start_queue(const ry::context& ctx, const repository& repo, account_locks& gate)
      : ctx_(ctx), repo_(repo), gate_(gate) {
    gate_.on_left([this] { pump(); });
  }

  // Decides the start for a task that runs on `exec`. If the task is cancelled meanwhile, the start may have been made.
  // Returns the errors of repository::start.
  ry::task<ry::result<start_outcome>> start(start_arguments a, ry_exec* exec);

 private:
  struct entry {
    start_arguments args;
    ry::uuid account;
    ry_exec* exec = nullptr;
    bool apart = false;  // it could not share a statement with others
    // Only on exec.
    std::optional<ry::result<start_outcome>> out;
    ry::signal decided;
    const ry::trace trace;  // restored when the entry continues
    explicit entry(const ry::context& ctx) : trace(ry::trace::current(ctx)) {}
    bool together() const { return !apart && args.is_plain(); }
  };
  using entry_ptr = std::shared_ptr<entry>;
  struct decision {
    entry_ptr of;
    ry::result<start_outcome> out;
  };

  static constexpr std::size_t batch_limit = 128;

  // Begins the next statement, if its time has come.
  void pump();
  std::vector<entry_ptr> next_batch();
  bool spawn(ry::task<void> t, ry_exec* exec) const;
  // Whether one statement makes as many of these starts as it can, also several of one account.
  static bool together(const std::vector<entry_ptr>& batch);
  ry::task<ry::result<std::vector<start_outcome>>> put(const std::vector<entry_ptr>& entries,
                                                       repository::on_lock how) const;
  ry::task<void> decide(std::vector<entry_ptr> batch);
  ry::task<void> decide_alone(std::vector<entry_ptr> of_account);
  void conclude(const std::vector<entry_ptr>& batch, ry::result<std::vector<start_outcome>> out,
                repository::on_lock how);
  void settle(ry_exec* exec, std::vector<decision> decisions) const;

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

// Group commit: writes many requests with one statement. Requests that arrive while a statement runs go into the next
// one. Under load, a commit contains many requests; without load, a request waits only for the end of the current
// iteration of its event loop.
//
// A derived class chooses the requests of a statement and runs it: start_queue for starts, checkpoint_batcher for
// checkpoints.
//
// Thread: any executor; write() resumes on the caller's executor. Lifetime: as long as the module.
#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ry/cpp/trace.hpp>
#include <span>
#include <utility>
#include <vector>

#include "store/account_locks.hpp"
#include "store/batch_policy.hpp"
#include "store/transient_error.hpp"

namespace runs {

template <class Request, class Outcome>
class batch_writer {
 public:
  batch_writer(const batch_writer&) = delete;

  // Returns the errors of the statement. If the task is cancelled meanwhile, the request may have been written.
  ry::task<ry::result<Outcome>> write(Request request, ry_exec* exec) {
    auto own_entry = std::make_shared<entry>(ctx_, std::move(request), exec);
    {
      std::lock_guard lock(mutex_);
      waiting_.push_back(own_entry);
    }
    pump_at_end_of_iteration(exec);
    while (!own_entry->outcome) {
      ry::result<void> waited = co_await ry::signal::waiter(own_entry->decided);
      if (!waited) co_return waited.error();
    }
    own_entry->trace.enter();
    co_return std::move(*own_entry->outcome);
  }

 protected:
  struct entry {
    entry(const ry::context& ctx, Request r, ry_exec* e)
        : request(std::move(r)), exec(e), trace(ry::trace::current(ctx)) {}
    Request request;
    ry_exec* const exec;
    // Accessed only on exec.
    std::optional<ry::result<Outcome>> outcome;
    ry::signal decided;
    const ry::trace trace;  // restored when write() resumes
  };
  using entry_ptr = std::shared_ptr<entry>;
  struct decision {
    entry_ptr of;
    ry::result<Outcome> outcome;
  };
  using decisions = std::vector<decision>;

  batch_writer(const ry::context& ctx, account_locks& locks, std::size_t batch_limit)
      : ctx_(ctx), locks_(locks), policy_(batch_limit) {
    locks_.on_release([this] { pump(); });
  }
  ~batch_writer() = default;

  // Removes the entries of the next statement from `waiting` and locks their accounts. Called with mutex_ locked.
  virtual std::vector<entry_ptr> next_batch(std::deque<entry_ptr>& waiting) = 0;
  // Runs the statement: calls statement_ended() when it ends, then unlocks the accounts and settles or retries each
  // entry. Must not throw: otherwise the callers of the entries would never resume.
  virtual ry::task<void> write_batch(std::vector<entry_ptr> batch) = 0;
  virtual void unlock_accounts(std::span<const entry_ptr> entries) = 0;

  void statement_ended() {
    std::lock_guard lock(mutex_);
    policy_.ended();
  }
  // Returns unwritten entries to the front of the queue, for later statements.
  void put_back(std::span<const entry_ptr> entries) {
    std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.begin(), entries.begin(), entries.end());
  }
  // Resumes the callers.
  void settle(decisions all) const {
    std::map<ry_exec*, decisions> by_exec;
    for (decision& d : all) by_exec[d.of->exec].push_back(std::move(d));
    for (auto& [exec, of_exec] : by_exec) {
      ctx_.post(exec, [of_exec = std::move(of_exec)]() mutable {
        for (decision& d : of_exec) {
          d.of->outcome = std::move(d.outcome);
          d.of->decided.set();
        }
      });
    }
  }
  // Begins a statement for these entries. A batched statement does not belong to the trace of a single run. False: the
  // module is stopping.
  bool spawn(ry::task<void> statement, std::span<const entry_ptr> entries) const {
    const ry::trace none = ry::trace::none(ctx_);
    const ry::trace_switch during(ctx_, entries.size() == 1 ? entries.front()->trace : none);
    // Uses its own cancel token: a statement in progress completes even while the module stops.
    return ctx_.spawn(std::move(statement), entries.front()->exec, ry::cancel_source().token());
  }

 private:
  // Begins the next statements if they are due.
  void pump() {
    for (;;) {
      std::vector<entry_ptr> batch;
      ry_exec* retry_on = nullptr;
      {
        std::lock_guard lock(mutex_);
        batch = policy_.begin(
            waiting_, ctx_.mono_us(), [this] { return next_batch(waiting_); }, retry_on);
      }
      if (retry_on != nullptr) pump_after_slow_statement(retry_on);
      if (batch.empty()) return;
      const std::vector<entry_ptr> entries = batch;
      if (spawn(write_batch(std::move(batch)), entries)) continue;
      statement_ended();
      decisions all;
      for (const entry_ptr& e : entries) all.push_back({e, stopping()});
      settle(std::move(all));
      unlock_accounts(entries);
    }
  }
  // Runs once per iteration of exec's event loop, however many entries request it.
  void pump_at_end_of_iteration(ry_exec* exec) {
    if (pump_posted_.exchange(true)) return;
    const auto run_pump = [this] {
      pump_posted_ = false;
      pump();
    };
    bool posted = false;
    try {
      ctx_.post(exec, run_pump);
      posted = true;
    } catch (...) {  // the event loop no longer accepts work
    }
    if (!posted) run_pump();
  }
  void pump_after_slow_statement(ry_exec* exec) {
    if (timer_due_.exchange(true)) return;
    // The timer serves many entries, so it does not belong to a single trace.
    const ry::trace_switch during(ctx_, ry::trace::none(ctx_));
    if (!ctx_.spawn(wait_for_slow_statement(), exec)) timer_due_ = false;
  }
  ry::task<void> wait_for_slow_statement() {
    const ry::result<void> slept = co_await ctx_.sleep(batch_policy::slow_us / 1000);
    timer_due_ = false;
    if (slept) pump();
  }

 protected:
  const ry::context& ctx_;
  account_locks& locks_;

 private:
  std::mutex mutex_;
  std::deque<entry_ptr> waiting_;
  batch_policy policy_;
  std::atomic<bool> pump_posted_{false}, timer_due_{false};
};

}  // namespace runs

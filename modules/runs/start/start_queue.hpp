// Decides concurrent starts together: see store/batch_writer.hpp. Starts of new threads, which are the majority, share
// a statement, even several of one account; a start that cannot be made this way gets a separate statement.
//
// Thread: any executor. Lifetime: as long as the module.
#pragma once
#include "store/batch_writer.hpp"
#include "store/repository.hpp"

namespace runs {

struct pending_start {
  start_arguments args;
  ry::uuid account;
  bool apart = false;  // an earlier attempt could not share a statement with other starts
  bool can_share() const { return !apart && args.is_plain(); }
};

class start_queue final : public batch_writer<pending_start, start_result> {
 public:
  start_queue(const ry::context& ctx, const repository& repo, account_locks& locks)
      : batch_writer(ctx, locks, batch_limit), repo_(repo) {}

  // Decides the start for a task that runs on `exec`. If the task is cancelled meanwhile, the run may still be created.
  // Returns the errors of repository::start.
  ry::task<ry::result<start_result>> start(start_arguments a, ry_exec* exec);

 private:
  using batch_writer::write;
  static constexpr std::size_t batch_limit = 128;

  std::vector<entry_ptr> next_batch(std::deque<entry_ptr>& waiting) override;
  ry::task<void> write_batch(std::vector<entry_ptr> batch) override;
  void unlock_accounts(std::span<const entry_ptr> entries) override;

  // Whether these starts go into one statement that makes as many of them as it can, even several of one account.
  static bool share_statement(const std::vector<entry_ptr>& batch);
  ry::task<ry::result<std::vector<start_result>>> decide(const std::vector<entry_ptr>& entries,
                                                         repository::on_lock how) const;
  // Starts of one account; waits for the account's lock. Runs concurrently with the batched statements.
  ry::task<void> decide_account(std::vector<entry_ptr> of_account);
  // Resumes the callers of decided starts and retries the others.
  void finish(const std::vector<entry_ptr>& batch, ry::result<std::vector<start_result>> out, repository::on_lock how);

  const repository& repo_;
};

}  // namespace runs

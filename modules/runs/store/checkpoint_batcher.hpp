// Commits the checkpoints of all runs of this node together: see store/batch_writer.hpp.
//
// Thread: any executor. Lifetime: as long as the module.
#pragma once
#include "store/batch_writer.hpp"
#include "store/repository.hpp"

namespace runs {

// write() returns the errors of repository::persist.
class checkpoint_batcher final : public batch_writer<checkpoint_step, step_result> {
 public:
  checkpoint_batcher(const ry::context& ctx, const repository& repo, account_locks& locks)
      : batch_writer(ctx, locks, batch_limit), repo_(repo) {}

 private:
  static constexpr std::size_t batch_limit = 64;

  std::vector<entry_ptr> next_batch(std::deque<entry_ptr>& waiting) override;
  ry::task<void> write_batch(std::vector<entry_ptr> batch) override;
  void unlock_accounts(std::span<const entry_ptr> entries) override;

  ry::task<ry::result<std::vector<step_result>>> persist(std::span<const checkpoint_step* const> steps,
                                                         repository::on_lock how) const;
  // Runs concurrently with the batched statements, because it may wait for the lock of the account.
  ry::task<void> write_one(entry_ptr e);

  const repository& repo_;
};

}  // namespace runs

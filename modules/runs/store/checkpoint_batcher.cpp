#include "store/checkpoint_batcher.hpp"

#include <algorithm>
#include <cstring>

namespace runs {

// The entries that have waited longest and whose accounts no other statement locks.
std::vector<checkpoint_batcher::entry_ptr> checkpoint_batcher::next_batch(std::deque<entry_ptr>& waiting) {
  std::vector<entry_ptr> batch;
  const account_locks::statement mine = locks_.next();
  auto kept = waiting.begin(), at = kept;
  for (; at != waiting.end() && batch.size() < batch_limit; ++at) {
    entry_ptr& e = *at;
    const checkpoint_step& step = e->request;
    if (!step.locks_account() || locks_.try_acquire(step.account, mine, account_locks::side::checkpoints))
      batch.push_back(std::move(e));
    else
      *kept++ = std::move(e);
  }
  waiting.erase(kept, at);
  std::sort(batch.begin(), batch.end(), [](const entry_ptr& a, const entry_ptr& b) {
    return std::memcmp(a->request.run.bytes, b->request.run.bytes, sizeof a->request.run.bytes) < 0;
  });
  return batch;
}

void checkpoint_batcher::unlock_accounts(std::span<const entry_ptr> entries) {
  std::vector<ry::uuid> accounts;
  accounts.reserve(entries.size());
  for (const entry_ptr& e : entries)
    if (e->request.locks_account()) accounts.push_back(e->request.account);
  locks_.release(accounts);
}

ry::task<ry::result<std::vector<step_result>>> checkpoint_batcher::persist(
    std::span<const checkpoint_step* const> steps, repository::on_lock how) const {
  ry::result<std::vector<step_result>> out{ry::error(RY_UNKNOWN)};
  try {
    out = co_await repo_.persist(steps, how);
  } catch (...) {
    out = ry::current_error();
  }
  co_return out;
}

ry::task<void> checkpoint_batcher::write_batch(std::vector<entry_ptr> batch) {
  std::vector<const checkpoint_step*> steps;
  steps.reserve(batch.size());
  for (const entry_ptr& e : batch) steps.push_back(&e->request);
  ry::result<std::vector<step_result>> out = co_await persist(steps, repository::on_lock::skip);
  statement_ended();
  std::vector<entry_ptr> unlocked;
  decisions decided;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const entry_ptr& e = batch[i];
    // If one step fails, the complete statement fails: retry each step alone, unless the error is transient.
    const bool alone =
        out ? (*out)[i].how == step_result::outcome::alone : batch.size() > 1 && !is_transient(out.error());
    if (alone && spawn(write_one(e), {&e, 1})) continue;
    unlocked.push_back(e);
    if (alone)
      decided.push_back({e, stopping()});
    else if (out)
      decided.push_back({e, (*out)[i]});
    else
      decided.push_back({e, out.error()});
  }
  unlock_accounts(unlocked);
  settle(std::move(decided));
}

ry::task<void> checkpoint_batcher::write_one(entry_ptr e) {
  const checkpoint_step* one[] = {&e->request};
  ry::result<std::vector<step_result>> out = co_await persist(one, repository::on_lock::wait);
  unlock_accounts({&e, 1});
  decisions decided;
  if (out)
    decided.push_back({e, out->front()});
  else
    decided.push_back({e, out.error()});
  settle(std::move(decided));
}

}  // namespace runs

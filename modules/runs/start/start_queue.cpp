#include "start/start_queue.hpp"

#include <algorithm>
#include <unordered_map>

#include "types/uuid_hash.hpp"

namespace runs {
namespace {

// The failed statement had no effect, so its starts can be retried one by one.
bool had_no_effect(const ry::error& e) {
  return e.status() == RY_ALREADY_EXISTS || e.status() == RY_INVALID_ARGUMENT || e.status() == RY_ABORTED ||
         e.status() == RY_OUT_OF_RANGE || e.status() == RY_INTERNAL;
}

}  // namespace

ry::task<ry::result<start_result>> start_queue::start(start_arguments a, ry_exec* exec) {
  pending_start p;
  p.account = ry::uuid::parse(a.account).value_or(ry::uuid());
  p.args = std::move(a);
  return write(std::move(p), exec);
}

// The entries that wait longest and whose accounts no other statement locks: all that can share a statement if the
// first one can, otherwise one per account. The other entries keep their order.
std::vector<start_queue::entry_ptr> start_queue::next_batch(std::deque<entry_ptr>& waiting) {
  std::vector<entry_ptr> batch;
  const account_locks::statement mine = locks_.next();
  bool shared = false;
  auto kept = waiting.begin(), at = kept;
  for (; at != waiting.end() && batch.size() < batch_limit; ++at) {
    entry_ptr& e = *at;
    const pending_start& start = e->request;
    // Either all starts of a statement have a node, or none of them does.
    const bool compatible =
        batch.empty() ||
        (shared ? start.can_share() : batch.front()->request.args.node.has_value() == start.args.node.has_value());
    // A separate statement number is refused if an earlier entry has the same account.
    const account_locks::statement by = start.can_share() && (batch.empty() || shared) ? mine : locks_.next();
    if (compatible && locks_.try_acquire(start.account, by, account_locks::side::starts)) {
      if (batch.empty()) shared = start.can_share();
      batch.push_back(std::move(e));
    } else {
      *kept++ = std::move(e);
    }
  }
  waiting.erase(kept, at);
  return batch;
}

void start_queue::unlock_accounts(std::span<const entry_ptr> entries) {
  std::vector<ry::uuid> accounts;
  accounts.reserve(entries.size());
  for (const entry_ptr& e : entries) accounts.push_back(e->request.account);
  locks_.release(accounts);
}

bool start_queue::share_statement(const std::vector<entry_ptr>& batch) {
  return batch.size() > 1 &&
         std::all_of(batch.begin(), batch.end(), [](const entry_ptr& e) { return e->request.can_share(); });
}

ry::task<ry::result<std::vector<start_result>>> start_queue::decide(const std::vector<entry_ptr>& entries,
                                                                    repository::on_lock how) const {
  ry::result<std::vector<start_result>> out{ry::error(RY_UNKNOWN)};
  try {
    std::vector<const start_arguments*> starts;
    starts.reserve(entries.size());
    for (const entry_ptr& e : entries) starts.push_back(&e->request.args);
    if (share_statement(entries))
      out = co_await repo_.start_together(starts, how);
    else
      out = co_await repo_.start(starts, how);
  } catch (...) {
    out = ry::current_error();
  }
  co_return out;
}

ry::task<void> start_queue::write_batch(std::vector<entry_ptr> batch) {
  ry::result<std::vector<start_result>> out = co_await decide(batch, repository::on_lock::skip);
  statement_ended();
  finish(batch, std::move(out), repository::on_lock::skip);
}

ry::task<void> start_queue::decide_account(std::vector<entry_ptr> of_account) {
  ry::result<std::vector<start_result>> out = co_await decide(of_account, repository::on_lock::wait);
  finish(of_account, std::move(out), repository::on_lock::wait);
}

void start_queue::finish(const std::vector<entry_ptr>& batch, ry::result<std::vector<start_result>> out,
                         repository::on_lock how) {
  const bool shared = share_statement(batch);
  const bool retry_each = !out && batch.size() > 1 && had_no_effect(out.error());
  decisions decided;
  std::unordered_map<ry::uuid, std::vector<entry_ptr>, uuid_hash> locked_accounts;
  std::vector<entry_ptr> apart, unlocked;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const entry_ptr& e = batch[i];
    const bool locked = out && (*out)[i].outcome == start_outcome::alone;
    if ((locked && how == repository::on_lock::skip) || (retry_each && !shared)) {
      locked_accounts[e->request.account].push_back(e);
      continue;
    }
    unlocked.push_back(e);
    if (locked || retry_each || (out && (*out)[i].outcome == start_outcome::apart))
      apart.push_back(e);
    else if (out)
      decided.push_back({e, std::move((*out)[i])});
    else
      decided.push_back({e, out.error()});
  }
  for (const auto& [account, entries] : locked_accounts) {
    if (spawn(decide_account(entries), entries)) continue;
    for (const entry_ptr& e : entries) {
      unlocked.push_back(e);
      decided.push_back({e, stopping()});
    }
  }
  for (const entry_ptr& e : apart) e->request.apart = true;
  put_back(apart);
  unlock_accounts(unlocked);
  settle(std::move(decided));
}

}  // namespace runs

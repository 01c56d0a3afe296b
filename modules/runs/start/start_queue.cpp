#include "start/start_queue.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace runs {
namespace {

// The statement had no effect, so its starts can be tried one by one.
bool certainly_undone(const ry::error& e) {
  return e.status() == RY_ALREADY_EXISTS || e.status() == RY_INVALID_ARGUMENT || e.status() == RY_ABORTED ||
         e.status() == RY_OUT_OF_RANGE || e.status() == RY_INTERNAL;
}

ry::error stopping() {
  return ry::unavailable("runs.stopping", "the server is stopping");
}

}  // namespace

ry::task<ry::result<start_outcome>> start_queue::start(start_arguments a, ry_exec* exec) {
  auto mine = std::make_shared<entry>(ctx_);
  mine->args = std::move(a);
  mine->account = ry::uuid::parse(mine->args.account).value_or(ry::uuid());
  mine->exec = exec;
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(mine);
  }
  soon_.ask(exec);
  while (!mine->out) {
    ry::result<void> waited = co_await ry::signal::waiter(mine->decided);
    if (!waited) co_return waited.error();
  }
  mine->trace.enter();
  co_return std::move(*mine->out);
}

void start_queue::pump() {
  for (;;) {
    std::vector<entry_ptr> batch;
    ry_exec* look_on = nullptr;
    {
      std::lock_guard lock(mutex_);
      batch = pace_.begin(
          waiting_, ctx_.mono_us(), [this] { return next_batch(); }, look_on);
    }
    if (look_on != nullptr) look_again_.ask(look_on);
    if (batch.empty()) return;
    const std::vector<entry_ptr> kept = batch;
    {
      // A batched statement belongs to no single run's trace.
      const ry::trace none = ry::trace::none(ctx_);
      const ry::trace_switch during(ctx_, kept.size() == 1 ? kept.front()->trace : none);
      if (spawn(decide(std::move(batch)), kept.front()->exec)) continue;
    }
    std::vector<ry::uuid> accounts;
    {
      std::lock_guard lock(mutex_);
      pace_.ended();
    }
    for (const entry_ptr& e : kept) {
      settle(e->exec, {{e, stopping()}});
      accounts.push_back(e->account);
    }
    gate_.leave(accounts);
  }
}

// Uses its own cancel token: a statement in progress completes even while the module stops.
bool start_queue::spawn(ry::task<void> t, ry_exec* exec) const {
  return ctx_.spawn(std::move(t), exec, ry::cancel_source().token());
}

// The entries that wait longest and whose accounts no other statement holds: all that can share a statement if the
// first one can, otherwise one per account. The rest keeps its order.
std::vector<start_queue::entry_ptr> start_queue::next_batch() {
  std::vector<entry_ptr> batch;
  const account_locks::statement mine = gate_.next();
  bool together = false;
  auto keep = waiting_.begin(), at = keep;
  for (; at != waiting_.end() && batch.size() < batch_limit; ++at) {
    entry_ptr& e = *at;
    // All starts of a statement have a node, or none has.
    const bool alike =
        batch.empty() || (together ? e->together() : batch.front()->args.node.has_value() == e->args.node.has_value());
    // A separate statement number is refused if an earlier entry has the same account.
    const account_locks::statement by = e->together() && (batch.empty() || together) ? mine : gate_.next();
    if (alike && gate_.enter(e->account, by, account_locks::side::starts)) {
      if (batch.empty()) together = e->together();
      batch.push_back(std::move(e));
    } else {
      *keep++ = std::move(e);
    }
  }
  waiting_.erase(keep, at);
  return batch;
}

bool start_queue::together(const std::vector<entry_ptr>& batch) {
  return batch.size() > 1 && std::all_of(batch.begin(), batch.end(), [](const entry_ptr& e) { return e->together(); });
}

// Never throws: otherwise the waiting entries would never resume.
ry::task<ry::result<std::vector<start_outcome>>> start_queue::put(const std::vector<entry_ptr>& entries,
                                                                  repository::on_lock how) const {
  ry::result<std::vector<start_outcome>> out{ry::error(RY_UNKNOWN)};
  try {
    std::vector<const start_arguments*> starts;
    for (const entry_ptr& e : entries) starts.push_back(&e->args);
    if (together(entries))
      out = co_await repo_.start_together(starts, how);
    else
      out = co_await repo_.start(starts, how);
  } catch (...) {
    out = ry::current_error();
  }
  co_return out;
}

ry::task<void> start_queue::decide(std::vector<entry_ptr> batch) {
  ry::result<std::vector<start_outcome>> out = co_await put(batch, repository::on_lock::skip);
  {
    std::lock_guard lock(mutex_);
    pace_.ended();
  }
  conclude(batch, std::move(out), repository::on_lock::skip);
}

// Runs next to the batched statements: it may wait for the lock of the account.
ry::task<void> start_queue::decide_alone(std::vector<entry_ptr> of_account) {
  ry::result<std::vector<start_outcome>> out = co_await put(of_account, repository::on_lock::wait);
  conclude(of_account, std::move(out), repository::on_lock::wait);
}

// Resumes the callers of decided starts and tries the others again.
void start_queue::conclude(const std::vector<entry_ptr>& batch, ry::result<std::vector<start_outcome>> out,
                           repository::on_lock how) {
  const bool made_together = together(batch);
  const bool one_spoils_all = !out && batch.size() > 1 && certainly_undone(out.error());
  std::map<ry_exec*, std::vector<decision>> decided;
  std::unordered_map<ry::uuid, std::vector<entry_ptr>, uuid_hash> alone;
  std::vector<entry_ptr> apart;
  std::vector<ry::uuid> free;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const entry_ptr& e = batch[i];
    const bool locked = out && (*out)[i].outcome == "alone";
    if ((locked && how == repository::on_lock::skip) || (one_spoils_all && !made_together)) {
      alone[e->account].push_back(e);
      continue;
    }
    free.push_back(e->account);
    if (locked || one_spoils_all || (out && (*out)[i].outcome == "apart"))
      apart.push_back(e);
    else if (out)
      decided[e->exec].push_back({e, std::move((*out)[i])});
    else
      decided[e->exec].push_back({e, out.error()});
  }
  for (const auto& [account, entries] : alone) {
    const ry::trace none = ry::trace::none(ctx_);
    const ry::trace_switch during(ctx_, entries.size() == 1 ? entries.front()->trace : none);
    if (spawn(decide_alone(entries), entries.front()->exec)) continue;
    for (const entry_ptr& e : entries) {
      free.push_back(account);
      decided[e->exec].push_back({e, stopping()});
    }
  }
  if (!apart.empty()) {
    std::lock_guard lock(mutex_);
    for (const entry_ptr& e : apart) e->apart = true;
    waiting_.insert(waiting_.begin(), apart.begin(), apart.end());
  }
  gate_.leave(free);
  for (auto& [exec, decisions] : decided) settle(exec, std::move(decisions));
}

void start_queue::settle(ry_exec* exec, std::vector<decision> decisions) const {
  ctx_.post(exec, [decisions = std::move(decisions)]() mutable {
    for (decision& d : decisions) {
      d.of->out = std::move(d.out);
      d.of->decided.set();
    }
  });
}

}  // namespace runs

#include "store/checkpoint_batcher.hpp"

#include <algorithm>
#include <cstring>

#include "store/transient_error.hpp"

namespace runs {
namespace {

ry::error stopping() {
  return ry::unavailable("runs.stopping", "the server is stopping");
}

}  // namespace

ry::task<ry::result<step_result>> checkpoint_batcher::write(checkpoint_step step, ry_exec* exec) {
  auto mine = std::make_shared<entry>(ctx_);
  mine->step = std::move(step);
  mine->exec = exec;
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(mine);
  }
  soon_.ask(exec);
  while (!mine->out) {
    ry::result<void> waited = co_await ry::signal::waiter(mine->written);
    if (!waited) co_return waited.error();
  }
  mine->trace.enter();
  co_return std::move(*mine->out);
}

void checkpoint_batcher::pump() {
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
    std::sort(batch.begin(), batch.end(), [](const entry_ptr& a, const entry_ptr& b) {
      return std::memcmp(a->step.run.bytes, b->step.run.bytes, sizeof a->step.run.bytes) < 0;
    });
    const std::vector<entry_ptr> kept = batch;
    {
      // A batched statement belongs to no single run's trace.
      const ry::trace none = ry::trace::none(ctx_);
      const ry::trace_switch during(ctx_, kept.size() == 1 ? kept.front()->trace : none);
      if (spawn(write_batch(std::move(batch)), kept.front()->exec)) continue;
    }
    {
      std::lock_guard lock(mutex_);
      pace_.ended();
    }
    for (const entry_ptr& e : kept) settle(e, stopping());
    leave(kept);
  }
}

std::vector<checkpoint_batcher::entry_ptr> checkpoint_batcher::next_batch() {
  std::vector<entry_ptr> batch;
  const account_locks::statement mine = gate_.next();
  auto keep = waiting_.begin(), at = keep;
  for (; at != waiting_.end() && batch.size() < batch_limit; ++at) {
    entry_ptr& e = *at;
    if (!e->step.locks_account() || gate_.enter(e->step.account, mine, account_locks::side::checkpoints))
      batch.push_back(std::move(e));
    else
      *keep++ = std::move(e);
  }
  waiting_.erase(keep, at);
  return batch;
}

void checkpoint_batcher::leave(std::span<const entry_ptr> entries) {
  std::vector<ry::uuid> accounts;
  for (const entry_ptr& e : entries)
    if (e->step.locks_account()) accounts.push_back(e->step.account);
  gate_.leave(accounts);
}

// Uses its own cancel token: a statement in progress completes even while the module stops.
bool checkpoint_batcher::spawn(ry::task<void> t, ry_exec* exec) const {
  return ctx_.spawn(std::move(t), exec, ry::cancel_source().token());
}

// Never throws: otherwise the waiting entries would never resume.
ry::task<ry::result<std::vector<step_result>>> checkpoint_batcher::put(std::span<const checkpoint_step* const> steps,
                                                                       repository::on_lock how) const {
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
  for (const entry_ptr& e : batch) steps.push_back(&e->step);
  ry::result<std::vector<step_result>> out = co_await put(steps, repository::on_lock::skip);
  {
    std::lock_guard lock(mutex_);
    pace_.ended();
  }
  std::vector<entry_ptr> over;
  std::vector<ry::result<step_result>> outcomes;  // of these
  for (std::size_t i = 0; i < batch.size(); ++i) {
    // If one step fails, the statement fails: retry each step alone. Without a database, all wait.
    const bool alone =
        out ? (*out)[i].how == step_result::outcome::alone : batch.size() > 1 && !is_transient(out.error());
    if (alone) {
      const ry::trace_switch during(ctx_, batch[i]->trace);
      if (spawn(write_alone(batch[i]), batch[i]->exec)) continue;
      outcomes.emplace_back(stopping());
    } else if (out) {
      outcomes.emplace_back(std::move((*out)[i]));
    } else {
      outcomes.emplace_back(out.error());
    }
    over.push_back(batch[i]);
  }
  leave(over);
  for (std::size_t i = 0; i < over.size(); ++i) settle(over[i], std::move(outcomes[i]));
}

// Runs next to the batched statements: it may wait for the lock of the account.
ry::task<void> checkpoint_batcher::write_alone(entry_ptr e) {
  const checkpoint_step* one[] = {&e->step};
  ry::result<std::vector<step_result>> out = co_await put(one, repository::on_lock::wait);
  leave({&e, 1});
  if (out)
    settle(e, std::move(out->front()));
  else
    settle(e, out.error());
}

void checkpoint_batcher::settle(const entry_ptr& e, ry::result<step_result> out) const {
  ctx_.post(e->exec, [e, out = std::move(out)]() mutable {
    e->out = std::move(out);
    e->written.set();
  });
}

}  // namespace runs

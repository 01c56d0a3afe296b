#include "start_queue.hpp"

#include <map>

namespace runs {
namespace {

// The statement had no effect, so its starts can be tried one by one.
bool certainly_undone(const ry::error& e) {
  return e.status() == RY_ALREADY_EXISTS || e.status() == RY_INVALID_ARGUMENT ||
         e.status() == RY_ABORTED || e.status() == RY_OUT_OF_RANGE || e.status() == RY_INTERNAL;
}

ry::error stopping() { return ry::unavailable("runs.stopping", "the server is stopping"); }

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
      batch = pace_.begin(waiting_, ctx_.mono_us(), [this] { return next_batch(); }, look_on);
    }
    if (look_on != nullptr) look_again_.ask(look_on);
    if (batch.empty()) return;
    const std::vector<entry_ptr> kept = batch;
    {
      // One statement for many is the work of none of them.
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

// A token of its own: what was begun is brought to its end also while the module stops.
bool start_queue::spawn(ry::task<void> t, ry_exec* exec) const {
  return ctx_.spawn(std::move(t), exec, ry::cancel_source().token());
}

// Those that wait longest, one of an account; the others of the same account keep their order. Empty when
// the accounts of all are in other statements.
std::vector<start_queue::entry_ptr> start_queue::next_batch() {
  std::vector<entry_ptr> batch;
  auto keep = waiting_.begin(), at = keep;
  for (; at != waiting_.end() && batch.size() < batch_limit; ++at) {
    entry_ptr& e = *at;
    // A statement has one node for all of its starts, or none.
    const bool alike = batch.empty() || batch.front()->args.node.has_value() == e->args.node.has_value();
    if (alike && gate_.enter(e->account, gate_.next(), account_gate::side::starts))
      batch.push_back(std::move(e));
    else
      *keep++ = std::move(e);
  }
  waiting_.erase(keep, at);
  return batch;
}

// Never throws: whoever waits for the outcome would wait for ever.
ry::task<ry::result<std::vector<start_outcome>>> start_queue::put(
    std::span<const start_arguments* const> starts, repository::on_lock how) const {
  ry::result<std::vector<start_outcome>> out{ry::error(RY_UNKNOWN)};
  try {
    out = co_await repo_.start(starts, how);
  } catch (...) {
    out = ry::current_error();
  }
  co_return out;
}

ry::task<void> start_queue::decide(std::vector<entry_ptr> batch) {
  std::vector<const start_arguments*> args;
  for (const entry_ptr& e : batch) args.push_back(&e->args);
  ry::result<std::vector<start_outcome>> out = co_await put(args, repository::on_lock::skip);
  std::map<ry_exec*, std::vector<decision>> decided;
  std::vector<entry_ptr> alone;
  std::vector<ry::uuid> free;
  {
    std::lock_guard lock(mutex_);
    pace_.ended();
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const entry_ptr& e = batch[i];
    if (out ? (*out)[i].outcome == "alone" : batch.size() > 1 && certainly_undone(out.error())) {
      alone.push_back(e);
      continue;
    }
    free.push_back(e->account);
    if (out)
      decided[e->exec].push_back({e, std::move((*out)[i])});
    else
      decided[e->exec].push_back({e, out.error()});
  }
  for (const entry_ptr& e : alone) {
    const ry::trace_switch during(ctx_, e->trace);
    if (spawn(decide_alone(e), e->exec)) continue;
    free.push_back(e->account);
    settle(e->exec, {{e, stopping()}});
  }
  gate_.leave(free);
  for (auto& [exec, decisions] : decided) settle(exec, std::move(decisions));
}

// Beside the statements for many: it may wait as long as somebody else holds the account.
ry::task<void> start_queue::decide_alone(entry_ptr e) {
  const start_arguments* one[] = {&e->args};
  ry::result<std::vector<start_outcome>> out = co_await put(one, repository::on_lock::wait);
  gate_.leave({&e->account, 1});
  if (out)
    settle(e->exec, {{e, std::move(out->front())}});
  else
    settle(e->exec, {{e, out.error()}});
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

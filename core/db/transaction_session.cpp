#include "core/db/transaction_session.hpp"

#include "core/exec/op_table.hpp"
#include "core/observe/log.hpp"

namespace ry::db {

namespace {

failure ended(ry_status st, const char* reason, const char* message) {
  return failure({st, reason, message, {}, 0, 0});
}

}  // namespace

tx_session::tx_session(pool& p, const ry_host* host, std::uint32_t flags, ry_exec* exec, ry_tx_fn fn, void* ctx)
    : pool_(p),
      keep_(host),
      flags_(flags),
      exec_(exec),
      fn_(fn),
      ctx_(ctx),
      deadline_(steady::now() + p.config().connect.statement_timeout) {}

void tx_session::offer_cancel(ry_op_id* op) {
  auto* ops = keep_.get()->rt.ops;
  if (!op || !ops) return;
  *op = op_ = ops->start([&p = pool_, this, self = weak_from_this()] {
    const auto alive = self.lock();
    if (!alive) return;
    cancelled_ = true;
    cancel_later(p, self);
  });
}

void tx_session::drop() noexcept {
  if (op_) keep_.get()->rt.ops->finish(op_);
}

void tx_session::refuse(failure f) {
  drop();
  pool_.count_failure(f);
  module::post(keep_.get(), exec_, [h = keep_.get(), fn = fn_, ctx = ctx_, f = std::move(f), trace = trace_] {
    const observe::trace_scope scope(trace);
    const auto v = f.error.view();
    module::invoke(h, "db.begin", fn, ctx, f.error.status, static_cast<ry_tx*>(nullptr), &v);
  });
}

void tx_session::give_out() noexcept {
  drop();
  auto self = std::static_pointer_cast<tx_session>(shared_from_this());
  module::post(keep_.get(), exec_, [self = std::move(self)]() mutable {
    auto* h = self->keep_.get();
    const auto fn = self->fn_;
    auto* ctx = self->ctx_;
    const observe::trace_scope scope(self->trace_);
    module::invoke(h, "db.begin", fn, ctx, RY_OK, new ry_tx{std::move(self), module::hold(h)},
                   static_cast<const ry_error_view*>(nullptr));
  });
}

void tx_session::done() noexcept {
  refuse(ended(RY_CANCELLED, "db.cancelled", "The call was cancelled."));
}

void tx_session::push(std::shared_ptr<async_statement> c) {
  std::unique_lock lock(mutex_);
  if (closed_) {
    const auto why = *closed_;
    lock.unlock();
    c->fail(why);
    return;
  }
  steps_.push_back({std::move(c), ending::rollback, nullptr, {}, module::hold(), {}});
  wake_.notify_one();
}

void tx_session::end(ending how, ry_exec* exec, ry_done done) {
  step s{nullptr, how, exec, done, module::hold(keep_.get()), observe::current_trace()};
  std::unique_lock lock(mutex_);
  if (closed_) {
    const auto why = *closed_;
    lock.unlock();
    answer(s, why);
    return;
  }
  steps_.push_back(std::move(s));
  wake_.notify_one();
}

void tx_session::answer(step& s, const failure& f) noexcept {
  if (s.call) {
    s.call->fail(f);
  } else if (s.how == ending::rollback) {
    module::complete(s.keep.get(), s.exec, s.done, RY_OK, s.trace);  // already rolled back, as requested
  } else {
    module::complete(s.keep.get(), s.exec, s.done, f.error, s.trace);
  }
}

void tx_session::close_with(const failure& f) noexcept {
  std::deque<step> left;
  {
    std::lock_guard lock(mutex_);
    closed_ = f;
    left.swap(steps_);
  }
  for (auto& s : left) answer(s, f);
}

std::optional<tx_session::step> tx_session::next() {
  std::unique_lock lock(mutex_);
  while (steps_.empty()) {
    const auto now = steady::now();
    if (now >= deadline_ || pool_.aborting()) return std::nullopt;
    wake_.wait_until(lock, std::min(deadline_, now + std::chrono::milliseconds(100)));
  }
  auto s = std::move(steps_.front());
  steps_.pop_front();
  return s;
}

std::optional<failure> tx_session::serve(connection& c) {
  auto tx = c.begin(flags_);
  give_out();
  for (;;) {
    auto s = next();
    if (!s) {
      if (pool_.aborting()) return ended(RY_CANCELLED, "db.shutdown", "The server is stopping.");
      observe::log(observe::level::warn, keep_.get()->name,
                   "a transaction was left open for too long and is rolled back");
      return ended(RY_DEADLINE_EXCEEDED, "db.transaction_timeout",
                   "The transaction was open for too long and was rolled back.");
    }
    if (s->call) {
      s->call->run(c);
      if (!c.is_open()) return unavailable("the connection broke inside the transaction");
      continue;
    }
    if (s->how == ending::commit) {
      try {
        tx.commit();
        module::complete(s->keep.get(), s->exec, s->done, RY_OK, s->trace);
      } catch (const failure& f) {
        pool_.count_failure(f);
        module::complete(s->keep.get(), s->exec, s->done, f.error, s->trace);
      }
    } else {
      try {
        tx.rollback();
      } catch (const failure& f) {
        c.close();
      }
      module::complete(s->keep.get(), s->exec, s->done, RY_OK, s->trace);
    }
    return std::nullopt;
  }
}

void tx_session::run(connection& c) noexcept {
  if (cancelled_) return done();
  if (steady::now() > deadline_)
    return refuse(ended(RY_DEADLINE_EXCEEDED, "db.queue", "The database was too busy to answer in time."));
  if (!c.is_open()) return refuse(unavailable("not connected"));
  deadline_ = steady::now() + pool_.config().connect.transaction_timeout;
  c.use_schema(keep_.get()->name);
  auto why = serve(c);
  close_with(why ? *why : ended(RY_FAILED_PRECONDITION, "db.transaction", "The transaction has ended."));
}

}  // namespace ry::db

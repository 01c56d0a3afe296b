// Awaitables for the completions of the C ABI, and for timers, blocking work, signals, queues and several concurrent
// tasks.
//
// An awaitable holds its state inline in the frame of the coroutine, starts when it is awaited and
// resumes on the executor of its chain. Each can be awaited once and only as a temporary, so arguments passed by
// reference live until the starting call has copied them.
#pragma once

#include <time.h>

#include <atomic>
#include <deque>

#include <ry/cpp/context.hpp>

namespace ry {

namespace detail {

// R: the caller gets result<R>. V...: the parameters of the completion between the status and the error. Start:
// ry_status(ry_exec*, fn, void* ctx, ry_op_id*); Convert: V... -> R.
template <class R, class Start, class Convert, class... V>
class call_op : cancel_node {
 public:
  using fn_type = void(void*, ry_status, V..., const ry_error_view*) noexcept;

  call_op(Start start, Convert convert) : start_(std::move(start)), convert_(std::move(convert)) {}
  call_op(const call_op&) = delete;
  call_op& operator=(const call_op&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> h) {
    waiting_ = h;
    env_ = h.promise().env_;
    const ry_status st = start_(env_->exec, &completed, static_cast<void*>(this), &op_);
    if (st != RY_OK) {
      out_.emplace(error(st));
      return false;
    }
    if (op_ != 0 && env_->cancel) {
      fire = &cancelled;
      env_->cancel.state()->add(*this);
    }
    if (!met_.exchange(true, std::memory_order_acq_rel)) return true;
    leave();
    return false;
  }
  result<R> await_resume() { return *std::move(out_); }

 private:
  static void completed(void* ctx, ry_status st, V... v, const ry_error_view* err) noexcept {
    auto* self = static_cast<call_op*>(ctx);
    try {
      if (st != RY_OK) {
        self->out_.emplace(error::from(st, err));
      } else if constexpr (std::is_void_v<R>) {
        self->convert_(v...);
        self->out_.emplace();
      } else {
        self->out_.emplace(self->convert_(v...));
      }
    } catch (...) {
      self->out_.emplace(current_error());
    }
    if (!self->met_.exchange(true, std::memory_order_acq_rel)) return;
    self->leave();
    self->waiting_.resume();
  }
  void leave() noexcept {
    if (fire != nullptr) env_->cancel.state()->remove(*this);
  }
  static void cancelled(cancel_node* node, std::int32_t) noexcept {
    auto* self = static_cast<call_op*>(node);
    const context& ctx = *self->env_->ctx;
    ctx.core().op_cancel(ctx.host(), self->op_);
  }

  Start start_;
  Convert convert_;
  std::coroutine_handle<> waiting_;
  env* env_ = nullptr;
  ry_op_id op_ = 0;
  // The starting call and the completion meet here; the second one continues the chain. A completion comes after the
  // starting call, but a driver that violates this must not resume a chain that is not suspended yet.
  std::atomic<bool> met_{false};
  std::optional<result<R>> out_;
};

struct nothing {
  void operator()() const noexcept {}
};

// A call that starts when it is awaited; only a temporary can be awaited.
template <class R, class Start, class Convert, class... V>
class [[nodiscard]] pending_call {
 public:
  pending_call(Start start, Convert convert) : start_(std::move(start)), convert_(std::move(convert)) {}
  pending_call(const pending_call&) = delete;
  pending_call& operator=(const pending_call&) = delete;
  auto operator co_await() && { return call_op<R, Start, Convert, V...>(std::move(start_), std::move(convert_)); }

 private:
  Start start_;
  Convert convert_;
};

}  // namespace detail

// Awaits any asynchronous C function of a service, driver or interface as result<R>:
//   auto got = co_await ry::call<account, const ry_account_view*>(
//       [&](ry_exec* exec, ry_account_fn fn, void* ctx, ry_op_id*) {
//         return accounts->ensure(accounts.self(), principal, exec, fn, ctx);
//       },
//       [](const ry_account_view* v) { return account(*v); });
// start may omit the operation id (a cancel then does not reach the call).
template <class R, class... V, class Start, class Convert>
auto call(Start start, Convert convert) {
  auto adapted = [start = std::move(start)](ry_exec* exec, auto* fn, void* ctx, ry_op_id* op) {
    if constexpr (std::is_invocable_v<const Start&, ry_exec*, decltype(fn), void*, ry_op_id*>) {
      return start(exec, fn, ctx, op);
    } else {
      (void)op;
      return start(exec, fn, ctx);
    }
  };
  return detail::pending_call<R, decltype(adapted), Convert, V...>(std::move(adapted), std::move(convert));
}
// The same for functions that take a ry_done: start(ry_exec*, ry_done[, ry_op_id*]) ->
// result<void>.
template <class Start>
auto call_done(Start start) {
  return call<void>(
      [start = std::move(start)](ry_exec* exec, ry_done_fn fn, void* ctx, ry_op_id* op) {
        const ry_done done{fn, ctx};
        if constexpr (std::is_invocable_v<const Start&, ry_exec*, ry_done, ry_op_id*>) {
          return start(exec, done, op);
        } else {
          (void)op;
          return start(exec, done);
        }
      },
      detail::nothing());
}

inline auto context::sleep(std::uint64_t ms) const {
  return call_done(
      [this, ms](ry_exec* exec, ry_done done, ry_op_id* op) { return core().sleep_ms(host_, exec, ms, done, op); });
}

namespace detail {
class switch_op {
 public:
  switch_op(const context* ctx, ry_exec* exec) noexcept : ctx_(ctx), exec_(exec) {}
  bool await_ready() const noexcept { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> h) {
    ry_exec*& at = h.promise().env_->exec;
    ry_exec* const before = std::exchange(at, exec_);  // the resuming call may continue the chain immediately
    if (ctx_->on_exec(exec_)) return false;
    const ry_status st = post(h);
    if (st != RY_OK) at = before;
    check(st, "exec_post");
    return true;
  }
  void await_resume() const noexcept {}

 protected:
  ry_status post(std::coroutine_handle<> h) const noexcept {
    return ctx_->core().exec_post(
        ctx_->host(), exec_, [](void* p) noexcept { std::coroutine_handle<>::from_address(p).resume(); }, h.address());
  }
  const context* ctx_;
  ry_exec* exec_;
};

// Returns to the executor on which other chains wait. It must not fail, so it waits for the memory that a post needs.
class return_op : switch_op {
 public:
  using switch_op::await_ready;
  using switch_op::await_resume;
  using switch_op::switch_op;
  template <class P>
  bool await_suspend(std::coroutine_handle<P> h) noexcept {
    h.promise().env_->exec = exec_;
    if (ctx_->on_exec(exec_)) return false;
    // Not std::this_thread::sleep_for: <chrono> doubles the size of a module's translation units with g++ 14.
    constexpr timespec one_ms{0, 1'000'000};
    while (post(h) != RY_OK) ::nanosleep(&one_ms, nullptr);
    return true;
  }
};
}  // namespace detail

inline auto context::switch_to(ry_exec* exec) const noexcept {
  return detail::switch_op(this, exec);
}

template <class F>
auto context::run_blocking(F f) const {
  using R = std::invoke_result_t<F&>;
  struct work {
    explicit work(F f) : f(std::move(f)) {}
    F f;
    std::conditional_t<std::is_void_v<R>, std::monostate, std::optional<R>> out;
    std::exception_ptr failed;
    static void run(void* p) noexcept {
      auto* w = static_cast<work*>(p);
      try {
        if constexpr (std::is_void_v<R>) {
          w->f();
        } else {
          w->out.emplace(w->f());
        }
      } catch (...) {
        w->failed = std::current_exception();
      }
    }
  };
  const auto body = [](const context* ctx, F fn) -> task<R> {
    work w(std::move(fn));
    result<void> ran = co_await call_done([ctx, &w](ry_exec* exec, ry_done done) {
      return ctx->core().run_blocking(ctx->host(), exec, &work::run, &w, done);
    });
    ran.value();
    if (w.failed) std::rethrow_exception(w.failed);
    if constexpr (!std::is_void_v<R>) co_return std::move(*w.out);
  };
  return body(this, std::move(f));
}

inline auto task_group::join() {
  return call_done([this](ry_exec* exec, ry_done done) {
    // The last task may end on any thread, even inside close(): return with a post.
    struct back {
      const context* ctx;
      ry_exec* exec;
      ry_done done;
    };
    auto b = std::make_unique<back>(back{&ctx_, exec, done});
    close({[](void* p, ry_status, const ry_error_view*) noexcept {
             auto* own = static_cast<back*>(p);
             own->ctx->core().exec_post(
                 own->ctx->host(), own->exec,
                 [](void* q) noexcept {
                   std::unique_ptr<back> last(static_cast<back*>(q));
                   last->done.fn(last->done.ctx, RY_OK, nullptr);
                 },
                 own);
           },
           b.release()});
    return RY_OK;
  });
}

// ---- signal -----------------------------------------------------------------------------------

// An event that chains wait for. All members belong to one executor, that of the waiters. set() releases every waiter
// or, if none waits, the next one. Waiters resume with a post.
class signal {
 public:
  signal() = default;
  signal(const signal&) = delete;
  signal& operator=(const signal&) = delete;

  void set() noexcept {
    if (first_ == nullptr) {
      set_ = true;
      return;
    }
    while (first_ != nullptr) {
      waiter* w = first_;
      w->unlink();
      w->wake();
    }
  }
  void reset() noexcept { set_ = false; }

  class waiter : detail::cancel_node {
   public:
    explicit waiter(signal& s) noexcept : signal_(s) {}
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    bool await_ready() noexcept { return std::exchange(signal_.set_, false); }
    template <class P>
    void await_suspend(std::coroutine_handle<P> h) noexcept {
      waiting_ = h;
      env_ = h.promise().env_;
      next_ = signal_.first_;
      if (next_ != nullptr) next_->prev_ = this;
      signal_.first_ = this;
      if (env_->cancel) {
        fire = [](cancel_node* node, std::int32_t) noexcept {
          auto* self = static_cast<waiter*>(node);
          // The caller that claims the waiter posts its only resumption.
          if (!self->claimed_.exchange(true, std::memory_order_acq_rel)) {
            self->cancelled_ = true;
            self->post();
          }
        };
        env_->cancel.state()->add(*this);
      }
    }
    result<void> await_resume() {
      if (env_ != nullptr) {
        if (fire != nullptr) env_->cancel.state()->remove(*this);
        unlink();
      }
      if (cancelled_) return error(RY_CANCELLED, "cancelled", "The wait was cancelled");
      return result<void>();
    }

   private:
    friend class signal;
    void unlink() noexcept {
      if (prev_ == nullptr && signal_.first_ != this) return;
      (prev_ != nullptr ? prev_->next_ : signal_.first_) = next_;
      if (next_ != nullptr) next_->prev_ = prev_;
      next_ = prev_ = nullptr;
    }
    void wake() noexcept {
      if (!claimed_.exchange(true, std::memory_order_acq_rel)) post();
    }
    void post() noexcept {
      env_->ctx->core().exec_post(
          env_->ctx->host(), env_->exec, [](void* p) noexcept { static_cast<waiter*>(p)->waiting_.resume(); }, this);
    }
    signal& signal_;
    waiter* next_ = nullptr;
    waiter* prev_ = nullptr;
    std::coroutine_handle<> waiting_;
    detail::env* env_ = nullptr;
    std::atomic<bool> claimed_{false};
    bool cancelled_ = false;
  };
  // -> result<void>: RY_CANCELLED if the chain was cancelled first.
  waiter wait() noexcept { return waiter(*this); }

 private:
  waiter* first_ = nullptr;
  bool set_ = false;
};

// ---- queue ------------------------------------------------------------------------------------

// Passes values from callbacks to one consuming chain, all on one executor. `limit` is advisory: full() tells a
// producer to pause.
template <class T>
class queue {
 public:
  explicit queue(std::size_t limit = 64) : limit_(limit) {}

  void push(T value) {
    if (closed_) return;
    items_.push_back(std::move(value));
    ready_.set();
  }
  // Adds no more values. Queued values are still returned, then nullopt or the error.
  void close() noexcept {
    closed_ = true;
    ready_.set();
  }
  void close(error why) noexcept {
    if (!closed_) failure_ = std::move(why);
    close();
  }
  bool full() const noexcept { return items_.size() >= limit_; }
  bool closed() const noexcept { return closed_; }
  std::size_t size() const noexcept { return items_.size(); }

  // The next value; nullopt at the end.
  task<result<std::optional<T>>> pop() {
    while (items_.empty()) {
      if (closed_) {
        if (failure_) co_return *failure_;
        co_return std::optional<T>();
      }
      result<void> woken = co_await ready_.wait();
      if (!woken) co_return woken.error();
    }
    std::optional<T> out(std::move(items_.front()));
    items_.pop_front();
    co_return std::move(out);
  }

 private:
  std::deque<T> items_;
  signal ready_;
  std::size_t limit_;
  bool closed_ = false;
  std::optional<error> failure_;
};

// ---- several tasks --------------------------------------------------------------------------

namespace detail {

struct gather {
  std::size_t left = 0;
  std::coroutine_handle<> waiting;
};

template <class T>
root run_part(task<T> t, std::optional<result<T>>* out, ry_exec* home) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(t);
      out->emplace();
    } else {
      out->emplace(co_await std::move(t));
    }
  } catch (...) {
    out->emplace(current_error());
  }
  env& e = co_await this_env{};
  if (e.exec != home) co_await return_op(e.ctx, home);
}

template <class T>
class gather_op {
 public:
  gather_op(std::vector<task<T>>& parts, std::vector<std::optional<result<T>>>& out) : parts_(parts), out_(out) {}
  bool await_ready() const noexcept { return parts_.empty(); }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> h) {
    env& e = *h.promise().env_;
    std::vector<std::coroutine_handle<>> started;
    started.reserve(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      root r = run_part(std::move(parts_[i]), &out_[i], e.exec);
      started.push_back(r.prepare(e, &ended, &state_));
    }
    state_.waiting = h;
    state_.left = started.size() + 1;
    for (auto part : started) part.resume();
    return --state_.left != 0;
  }
  void await_resume() const noexcept {}

 private:
  static void ended(void* p) noexcept {
    auto* g = static_cast<gather*>(p);
    if (--g->left == 0) g->waiting.resume();
  }
  std::vector<task<T>>& parts_;
  std::vector<std::optional<result<T>>>& out_;
  gather state_;
};

}  // namespace detail

// Runs tasks concurrently on the chain's executor, with its cancel token. A task's exception is its result. Results are
// in the order of the tasks.
template <class T>
task<std::vector<result<T>>> when_all(std::vector<task<T>> parts) {
  std::vector<std::optional<result<T>>> out(parts.size());
  detail::gather_op<T> op(parts, out);
  co_await op;
  std::vector<result<T>> results;
  results.reserve(out.size());
  for (auto& r : out) results.push_back(std::move(*r));
  co_return results;
}

}  // namespace ry

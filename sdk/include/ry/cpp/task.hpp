// task<T>: a lazy coroutine. It runs when it is awaited, inside the chain of its awaiter, and returns a value or
// throws.
//
// A chain (a root task and all that it awaits) runs on one executor at a time and carries a cancel token. Every
// awaitable of this SDK resumes on that executor, and the token cancels it. context::spawn starts a chain;
// context::switch_to moves it to another executor; with_cancel changes its token.
//
// With g++ 12: take coroutine parameters by value, keep the object of a coroutine lambda alive until it ends, and keep
// co_await out of ?:, default arguments, initializer lists, aggregates and the condition of a switch.
#pragma once

#include <coroutine>
#include <utility>
#include <variant>

#include <ry/cpp/cancel.hpp>

namespace ry {

class context;

namespace detail {

// The state of a chain; lives in the frame of its root.
struct env {
  const context* ctx = nullptr;
  ry_exec* exec = nullptr;
  cancel_token cancel;
};

struct promise_base {
  env* env_ = nullptr;
  std::coroutine_handle<> continuation_;

  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) const noexcept {
      return h.promise().continuation_;
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }
};

template <class T>
struct promise_value : promise_base {
  std::variant<std::monostate, T, std::exception_ptr> out_;
  template <class U = T>
  requires std::is_convertible_v<U&&, T>
  void return_value(U&& v) { out_.template emplace<1>(std::forward<U>(v)); }
  void unhandled_exception() noexcept { out_.template emplace<2>(std::current_exception()); }
  T take() {
    if (out_.index() == 2) std::rethrow_exception(std::get<2>(std::move(out_)));
    return std::get<1>(std::move(out_));
  }
};

template <>
struct promise_value<void> : promise_base {
  std::exception_ptr failed_;
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { failed_ = std::current_exception(); }
  void take() {
    if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
  }
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] task {
 public:
  struct promise_type : detail::promise_value<T> {
    task get_return_object() noexcept { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
  };
  using value_type = T;

  task() noexcept = default;
  task(task&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)) {}
  task& operator=(task&& o) noexcept {
    if (this != &o) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(o.handle_, nullptr);
    }
    return *this;
  }
  ~task() {
    if (handle_) handle_.destroy();
  }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  class awaiter {
   public:
    explicit awaiter(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
    bool await_ready() const noexcept { return false; }
    template <class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> parent) noexcept {
      handle_.promise().env_ = parent.promise().env_;
      handle_.promise().continuation_ = parent;
      return handle_;
    }
    T await_resume() { return handle_.promise().take(); }

   private:
    std::coroutine_handle<promise_type> handle_;
  };
  // Await it once; the task must outlive the await (a temporary does).
  awaiter operator co_await() && noexcept { return awaiter(handle_); }

 private:
  explicit task(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
  std::coroutine_handle<promise_type> handle_;
};

namespace detail {

struct this_env {
  bool await_ready() const noexcept { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> h) noexcept {
    env_ = h.promise().env_;
    return false;
  }
  env& await_resume() const noexcept { return *env_; }
  env* env_ = nullptr;
};

// The root of a chain: owns its env, destroys itself at the end, then calls `ended`.
class root {
 public:
  struct promise_type : promise_base {
    env own_;
    void (*ended_)(void*) noexcept = nullptr;
    void* ended_ctx_ = nullptr;

    struct end {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> h) const noexcept {
        auto* ended = h.promise().ended_;
        void* ctx = h.promise().ended_ctx_;
        h.destroy();
        if (ended != nullptr) ended(ctx);
      }
      void await_resume() const noexcept {}
    };
    root get_return_object() noexcept { return root(std::coroutine_handle<promise_type>::from_promise(*this)); }
    end final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }  // roots catch all exceptions themselves
  };

  std::coroutine_handle<promise_type> prepare(env e, void (*ended)(void*) noexcept, void* ctx) noexcept {
    auto& p = handle_.promise();
    p.own_ = std::move(e);
    p.env_ = &p.own_;
    p.ended_ = ended;
    p.ended_ctx_ = ctx;
    return handle_;
  }

 private:
  explicit root(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace detail

// The executor and the cancel token of the running chain: `auto* exec = co_await this_exec();`
inline task<ry_exec*> this_exec() {
  detail::env& e = co_await detail::this_env{};
  co_return e.exec;
}
inline task<cancel_token> this_cancel() {
  detail::env& e = co_await detail::this_env{};
  co_return e.cancel;
}

// Runs t under another token; an empty token shields it from cancellation, for example to store why a run was stopped.
template <class T>
task<T> with_cancel(cancel_token token, task<T> t) {
  struct restore {
    restore(detail::env& env, cancel_token token) : e(env), before(std::exchange(env.cancel, token)) {}
    ~restore() { e.cancel = std::move(before); }
    detail::env& e;
    cancel_token before;
  };
  detail::env& e = co_await detail::this_env{};
  restore back(e, std::move(token));
  co_return co_await std::move(t);
}
template <class T>
task<T> shield(task<T> t) {
  return with_cancel(cancel_token(), std::move(t));
}

}  // namespace ry

// Time limits for tasks. A limit cancels the task together with everything it awaits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ry/ry.hpp>
#include <utility>

namespace mcp {

// An idle timeout: the operation may take `idle_us` from its start or from its last progress, but at most `max_us`
// in total. Runs on the executor of the operation.
struct idle_clock {
  std::int64_t idle_us = 0, max_us = 0;
  std::int64_t started_us = 0, last_us = 0;

  // While the person is asked, no time passes. Calls nest.
  void pause(std::int64_t now_us) noexcept {
    if (pauses_++ == 0) paused_us_ = now_us;
  }
  void resume(std::int64_t now_us) noexcept {
    if (pauses_ == 0 || --pauses_ != 0) return;
    started_us += now_us - paused_us_;
    last_us = now_us;
  }

  std::int64_t remaining_us(std::int64_t now_us) const noexcept {
    if (pauses_ != 0) return idle_us;
    return std::min(last_us + idle_us, started_us + max_us) - now_us;
  }

 private:
  int pauses_ = 0;
  std::int64_t paused_us_ = 0;
};

namespace detail {

struct alarm {
  const ry::context* ctx;
  ry::cancel_source source;
  bool fired = false, finished = false;
  ry_op_id op = 0;
  ry_exec* exec = nullptr;
  std::shared_ptr<const idle_clock> clock = nullptr;  // nullptr: a fixed limit

  static void on_timer(void* p, ry_status st, const ry_error_view*) noexcept {
    auto* a = static_cast<alarm*>(p);
    if (a->finished) {
      delete a;
      return;
    }
    if (st == RY_OK && a->clock) {
      const auto remaining = a->clock->remaining_us(a->ctx->mono_us());
      const ry_done done{&alarm::on_timer, a};
      if (remaining > 0 && a->ctx->core().sleep_ms(a->ctx->host(), a->exec, ms_of(remaining), done, &a->op) == RY_OK)
        return;
    }
    a->finished = true;
    a->fired = st == RY_OK;
    if (a->fired) a->source.cancel(RY_REASON_DEADLINE);
  }
  static std::uint64_t ms_of(std::int64_t us) noexcept { return static_cast<std::uint64_t>(us) / 1000 + 1; }
};

// Frees the alarm. If its timer is still pending, the timer frees it instead.
struct alarm_owner {
  alarm* a;
  ~alarm_owner() {
    if (a->finished) {
      delete a;
    } else {
      a->finished = true;
      a->ctx->core().op_cancel(a->ctx->host(), a->op);
    }
  }
};

}  // namespace detail

// Runs t. After `ms` it cancels t and throws `timeout`, unless t completes nevertheless. With a clock, `ms` is the time
// until the first check of the clock.
template <class T>
ry::task<T> within(const ry::context& ctx, std::uint64_t ms, ry::error timeout, ry::task<T> t,
                   std::shared_ptr<const idle_clock> clock = nullptr) {
  ry_exec* exec = co_await ry::this_exec();
  const ry::cancel_token outer = co_await ry::this_cancel();
  detail::alarm_owner owner{new detail::alarm{&ctx, ry::cancel_source(outer)}};
  owner.a->exec = exec;
  owner.a->clock = std::move(clock);
  const ry_done done{&detail::alarm::on_timer, owner.a};
  if (ctx.core().sleep_ms(ctx.host(), exec, ms, done, &owner.a->op) != RY_OK) {
    owner.a->finished = true;
    throw ry::error(RY_UNAVAILABLE, "mcp.stopping", "The server is stopping");
  }
  try {
    co_return co_await ry::with_cancel(owner.a->source.token(), std::move(t));
  } catch (const ry::error& e) {
    if (e.status() != RY_CANCELLED || !owner.a->fired) throw;
  }
  throw timeout;
}

}  // namespace mcp

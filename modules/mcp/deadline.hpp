// Time limits for tasks. A limit cancels the task together with everything it awaits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ry/ry.hpp>
#include <utility>

namespace mcp {

// An idle timeout: the operation may take `patience_us` from its start or from its last progress, but at most `max_us`
// in total. Runs on the executor of the operation.
struct idle_clock {
  std::int64_t patience_us = 0, max_us = 0;
  std::int64_t begun_us = 0, last_us = 0;

  std::int64_t left_us(std::int64_t now_us) const noexcept {
    return std::min(last_us + patience_us, begun_us + max_us) - now_us;
  }
};

namespace detail {

struct alarm {
  const ry::context* ctx;
  ry::cancel_source source;
  bool fired = false, left = false;
  ry_op_id op = 0;
  ry_exec* exec = nullptr;
  std::shared_ptr<const idle_clock> clock = nullptr;  // nullptr: a fixed limit

  static void rang(void* p, ry_status st, const ry_error_view*) noexcept {
    auto* a = static_cast<alarm*>(p);
    if (a->left) {
      delete a;
      return;
    }
    if (st == RY_OK && a->clock) {
      const auto left = a->clock->left_us(a->ctx->mono_us());
      const ry_done again{&alarm::rang, a};
      if (left > 0 && a->ctx->core().sleep_ms(a->ctx->host(), a->exec, ms_of(left), again, &a->op) == RY_OK) return;
    }
    a->left = true;
    a->fired = st == RY_OK;
    if (a->fired) a->source.cancel(RY_REASON_DEADLINE);
  }
  static std::uint64_t ms_of(std::int64_t us) noexcept { return static_cast<std::uint64_t>(us) / 1000 + 1; }
};

// Frees the alarm, or leaves that to its timer if the timer is still pending.
struct alarm_owner {
  alarm* a;
  ~alarm_owner() {
    if (a->left) {
      delete a;
    } else {
      a->left = true;
      a->ctx->core().op_cancel(a->ctx->host(), a->op);
    }
  }
};

}  // namespace detail

// Runs t. After `ms` it cancels t and throws `late`, unless t completes nevertheless. With a clock, `ms` is the time
// until the clock is checked first.
template <class T>
ry::task<T> within(const ry::context& ctx, std::uint64_t ms, ry::error late, ry::task<T> t,
                   std::shared_ptr<const idle_clock> clock = nullptr) {
  ry_exec* exec = co_await ry::this_exec();
  const ry::cancel_token outer = co_await ry::this_cancel();
  detail::alarm_owner own{new detail::alarm{&ctx, ry::cancel_source(outer)}};
  own.a->exec = exec;
  own.a->clock = std::move(clock);
  const ry_done done{&detail::alarm::rang, own.a};
  if (ctx.core().sleep_ms(ctx.host(), exec, ms, done, &own.a->op) != RY_OK) {
    own.a->left = true;
    throw ry::error(RY_UNAVAILABLE, "mcp.stopping", "The server is stopping");
  }
  try {
    co_return co_await ry::with_cancel(own.a->source.token(), std::move(t));
  } catch (const ry::error& e) {
    if (e.status() != RY_CANCELLED || !own.a->fired) throw;
  }
  throw late;
}

}  // namespace mcp

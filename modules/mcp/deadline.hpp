// A limit on the time of a task, with everything it awaits.
#pragma once

#include <ry/ry.hpp>

namespace mcp {

namespace detail {

struct alarm {
  const ry::context* ctx;
  ry::cancel_source source;
  bool fired = false, left = false;
  ry_op_id op = 0;

  static void rang(void* p, ry_status st, const ry_error_view*) noexcept {
    auto* a = static_cast<alarm*>(p);
    if (a->left) {
      delete a;
      return;
    }
    a->left = true;
    a->fired = st == RY_OK;
    if (a->fired) a->source.cancel(RY_WHY_DEADLINE);
  }
};

// Leaves the alarm to its timer, or frees it.
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

// Runs t; after `ms` it is called off, and `late` is thrown unless it ended nevertheless.
template <class T>
ry::task<T> within(const ry::context& ctx, std::uint64_t ms, ry::error late, ry::task<T> t) {
  ry_exec* exec = co_await ry::this_exec();
  const ry::cancel_token outer = co_await ry::this_cancel();
  detail::alarm_owner own{new detail::alarm{&ctx, ry::cancel_source(outer)}};
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

// Coalescing timer: calls a function a fixed time after the first request; further requests until then have no effect.
// Does nothing after the module stops.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <atomic>
#include <functional>
#include <ry/cpp/trace.hpp>
#include <ry/ry.hpp>
#include <utility>

namespace runs {

class later {
 public:
  later(const ry::context& ctx, std::uint64_t ms, std::function<void()> act)
      : ctx_(ctx), ms_(ms), act_(std::move(act)) {}
  later(const later&) = delete;

  // The function runs on exec.
  void ask(ry_exec* exec) {
    if (due_.exchange(true)) return;
    // The timer serves many requests, so it belongs to no single trace.
    const ry::trace_switch during(ctx_, ry::trace::none(ctx_));
    if (!ctx_.spawn(wait(), exec)) due_ = false;
  }

 private:
  ry::task<void> wait() {
    const ry::result<void> slept = co_await ctx_.sleep(ms_);
    due_ = false;
    if (slept) act_();
  }

  const ry::context& ctx_;
  const std::uint64_t ms_;
  const std::function<void()> act_;
  std::atomic<bool> due_{false};
};

}  // namespace runs

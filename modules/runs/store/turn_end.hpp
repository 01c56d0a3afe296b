// Coalesces requests: calls a function once at the end of the current turn of an event loop, however often it was
// requested.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <atomic>
#include <functional>
#include <ry/ry.hpp>
#include <utility>

namespace runs {

class turn_end {
 public:
  turn_end(const ry::context& ctx, std::function<void()> act) : ctx_(ctx), act_(std::move(act)) {}
  turn_end(const turn_end&) = delete;

  // On exec's event loop; immediately if that accepts no more work.
  void ask(ry_exec* exec) {
    if (due_.exchange(true)) return;
    const auto act = [this] {
      due_ = false;
      act_();
    };
    bool posted = false;
    try {
      ctx_.post(exec, act);
      posted = true;
    } catch (...) {
    }
    if (!posted) act();
  }

 private:
  const ry::context& ctx_;
  const std::function<void()> act_;
  std::atomic<bool> due_{false};
};

}  // namespace runs

#include "run/waiting.hpp"

#include <vector>

namespace runs {

namespace {

ry::task<void> sleep_without_result(const ry::context& ctx, std::uint64_t ms) {
  (void)co_await ctx.sleep(ms);
}

struct sleep_guard : abortable {
  ry::cancel_source source;
  void abort() noexcept override { source.cancel(RY_REASON_USER); }
};

}  // namespace

ry::task<void> wait_for(const ry::context& ctx, ry::signal& signal, std::uint64_t ms) {
  ry::cancel_source timer(co_await ry::this_cancel());
  const auto set_after = [](const ry::context& c, ry::signal& s, std::uint64_t after) -> ry::task<void> {
    ry::result<void> elapsed = co_await c.sleep(after);
    if (elapsed) s.set();
  };
  const auto cancel_timer = [](ry::signal& s, ry::cancel_source done) -> ry::task<void> {
    (void)co_await s.wait();
    done.cancel();
  };
  std::vector<ry::task<void>> tasks;
  tasks.push_back(ry::with_cancel(timer.token(), set_after(ctx, signal, ms)));
  tasks.push_back(cancel_timer(signal, timer));
  (void)co_await ry::when_all(std::move(tasks));
}

ry::task<void> interruptible_sleep(const ry::context& ctx, std::shared_ptr<live_run> run, std::uint64_t ms) {
  sleep_guard guard;
  stop_state::working busy(run->stop, guard);
  co_await ry::with_cancel(guard.source.token(), sleep_without_result(ctx, ms));
}

}  // namespace runs

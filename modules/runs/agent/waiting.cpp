#include "agent/waiting.hpp"

#include <vector>

namespace runs {

ry::task<void> wait_for(const ry::context& ctx, ry::signal& what, std::uint64_t ms) {
  ry::cancel_source timer(co_await ry::this_cancel());
  const auto ring = [](const ry::context& c, ry::signal& s, std::uint64_t after) -> ry::task<void> {
    ry::result<void> slept = co_await c.sleep(after);
    if (slept) s.set();
  };
  const auto listen = [](ry::signal& s, ry::cancel_source done) -> ry::task<void> {
    (void)co_await s.wait();
    done.cancel();
  };
  std::vector<ry::task<void>> both;
  both.push_back(ry::with_cancel(timer.token(), ring(ctx, what, ms)));
  both.push_back(listen(what, timer));
  (void)co_await ry::when_all(std::move(both));
}

}  // namespace runs

#include "concurrency_limiter.hpp"

#include <gtest/gtest.h>
#include <ry/testing.hpp>

namespace mcp {
namespace {

ry::task<void> hold(const ry::context& ctx, concurrency_limiter& limiter, std::uint64_t ms, int& active, int& done) {
  const auto permit = co_await limiter.acquire("account");
  ++active;
  (co_await ctx.sleep(ms)).value();
  --active;
  ++done;
}

TEST(concurrency_limiter, requests_wait_in_order_even_for_hours) {
  ry::testing::fake_host host;
  concurrency_limiter limiter(host.ctx(), 1);
  int active = 0, done = 0;
  constexpr std::uint64_t hour_ms = 3'600'000;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(host.ctx().spawn(hold(host.ctx(), limiter, 5 * hour_ms, active, done), host.ctx().pick_exec()));
  for (int i = 1; i <= 3; ++i) {
    host.advance(5 * hour_ms - 1);
    EXPECT_EQ(active, 1);
    EXPECT_EQ(done, i - 1);
    host.advance(1);
    EXPECT_EQ(done, i);
  }
}

TEST(concurrency_limiter, a_cancelled_waiter_does_not_block_later_ones) {
  ry::testing::fake_host host;
  concurrency_limiter limiter(host.ctx(), 1);
  int active = 0, done = 0;
  ry::cancel_source cancelled;
  ASSERT_TRUE(host.ctx().spawn(hold(host.ctx(), limiter, 1000, active, done), host.ctx().pick_exec()));
  ASSERT_TRUE(
      host.ctx().spawn(hold(host.ctx(), limiter, 1000, active, done), host.ctx().pick_exec(), cancelled.token()));
  ASSERT_TRUE(host.ctx().spawn(hold(host.ctx(), limiter, 1000, active, done), host.ctx().pick_exec()));
  host.advance(0);
  cancelled.cancel();
  host.advance(1000);
  EXPECT_EQ(active, 1);
  host.advance(1000);
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace mcp

#include "concurrency_limiter.hpp"

#include <gtest/gtest.h>
#include <ry/testing.hpp>

namespace mcp {
namespace {

ry::task<void> hold(const ry::context& ctx, concurrency_limiter& of, std::uint64_t ms, int& now, int& done) {
  const auto place = co_await of.take("account");
  ++now;
  (co_await ctx.sleep(ms)).value();
  --now;
  ++done;
}

TEST(places, are_taken_in_turn_however_long_that_takes) {
  ry::testing::fake_host host;
  concurrency_limiter of(host.ctx(), 1);
  int now = 0, done = 0;
  constexpr std::uint64_t hour_ms = 3'600'000;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(host.ctx().spawn(hold(host.ctx(), of, 5 * hour_ms, now, done), host.ctx().pick_exec()));
  for (int i = 1; i <= 3; ++i) {
    host.advance(5 * hour_ms - 1);
    EXPECT_EQ(now, 1);
    EXPECT_EQ(done, i - 1);
    host.advance(1);
    EXPECT_EQ(done, i);
  }
}

TEST(places, one_that_is_given_up_holds_nobody_back) {
  ry::testing::fake_host host;
  concurrency_limiter of(host.ctx(), 1);
  int now = 0, done = 0;
  ry::cancel_source gone;
  ASSERT_TRUE(host.ctx().spawn(hold(host.ctx(), of, 1000, now, done), host.ctx().pick_exec()));
  ASSERT_TRUE(host.ctx().spawn(hold(host.ctx(), of, 1000, now, done), host.ctx().pick_exec(), gone.token()));
  ASSERT_TRUE(host.ctx().spawn(hold(host.ctx(), of, 1000, now, done), host.ctx().pick_exec()));
  host.advance(0);
  gone.cancel();
  host.advance(1000);
  EXPECT_EQ(now, 1);
  host.advance(1000);
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace mcp

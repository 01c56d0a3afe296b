#include "core/exec/op_table.hpp"

#include <gtest/gtest.h>

TEST(op_table, cancels_once_and_ignores_stale_ids) {
  ry::exec::op_table ops;
  int cancelled = 0;
  auto a = ops.start([&] { ++cancelled; });
  auto b = ops.start([&] { cancelled += 10; });
  EXPECT_NE(a, b);
  ops.finish(b);
  ops.cancel(b);
  ops.cancel(a);
  ops.cancel(a);
  ops.cancel(999);
  EXPECT_EQ(cancelled, 1);
}

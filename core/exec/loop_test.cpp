#include "core/exec/loop.hpp"

#include <gtest/gtest.h>

#include <future>

TEST(loop_pool, runs_posted_work_on_the_loop_it_was_posted_to) {
  ry::exec::loop_pool pool(2);
  for (std::size_t i = 0; i < pool.size(); ++i) {
    std::promise<bool> here;
    pool.at(i).post([&] { here.set_value(pool.at(i).is_current()); });
    EXPECT_TRUE(here.get_future().get());
  }
  EXPECT_EQ(ry_exec::current(), nullptr);
}

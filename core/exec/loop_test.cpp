#include "core/exec/loop.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <future>
#include <thread>

TEST(loop_pool, runs_posted_work_on_the_loop_it_was_posted_to) {
  ry::exec::loop_pool pool(2);
  for (std::size_t i = 0; i < pool.size(); ++i) {
    std::promise<bool> here;
    pool.at(i).post([&] { here.set_value(pool.at(i).is_current()); });
    EXPECT_TRUE(here.get_future().get());
  }
  EXPECT_EQ(ry_exec::current(), nullptr);
}

TEST(loop_pool, has_one_loop_per_usable_core) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  std::size_t found = 0;
  // New threads inherit the affinity of the thread that creates them.
  std::thread([&] {
    int core = 0;
    while (!CPU_ISSET(core, &all)) ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    found = ry::exec::loop_pool().size();
  }).join();
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(ry::exec::loop_pool().size(), static_cast<std::size_t>(CPU_COUNT(&all)));
}

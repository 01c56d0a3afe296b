#include "core/exec/blocking_pool.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <future>

namespace ry::exec {
namespace {

TEST(blocking_pool, runs_accepted_work_even_while_stopping) {
  std::atomic<int> ran{0};
  blocking_pool pool(2);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(pool.submit([&] { ++ran; }), submit_result::yes);
  pool.stop_and_join();
  EXPECT_EQ(ran, 100);
  EXPECT_EQ(pool.submit([&] { ++ran; }), submit_result::stopped);
  EXPECT_EQ(ran, 100);
}

TEST(blocking_pool, has_a_lower_priority_than_the_event_loops) {
  const int here = ::getpriority(PRIO_PROCESS, 0);
  std::promise<int> there;
  blocking_pool pool(1);
  ASSERT_EQ(pool.submit([&] { there.set_value(::getpriority(PRIO_PROCESS, 0)); }), submit_result::yes);
  EXPECT_EQ(there.get_future().get(), std::min(here + 10, 19));
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), here) << "other threads keep their priority";
}

TEST(blocking_pool, rejects_work_over_its_limit) {
  std::promise<void> gate, begun;
  auto open = gate.get_future().share();
  blocking_pool pool(1, 1);
  ASSERT_EQ(pool.submit([&, open] {
    begun.set_value();
    open.wait();
  }),
            submit_result::yes);
  begun.get_future().wait();
  EXPECT_EQ(pool.submit([] {}), submit_result::yes);
  EXPECT_EQ(pool.queued(), 1u);
  EXPECT_EQ(pool.submit([] {}), submit_result::queue_full);
  gate.set_value();
}

}  // namespace
}  // namespace ry::exec

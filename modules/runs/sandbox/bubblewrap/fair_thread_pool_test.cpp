#include "fair_thread_pool.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <vector>

using bubblewrap::fair_thread_pool;

namespace {

TEST(fair_thread_pool_test, accounts_take_turns) {
  std::promise<void> open;
  const std::shared_future<void> gate = open.get_future().share();
  std::mutex mutex;
  std::string order;
  {
    fair_thread_pool pool(1);
    const auto submit = [&](const std::string& account, char name) {
      EXPECT_TRUE(pool.submit(account, [&, name] {
        gate.wait();
        std::lock_guard lock(mutex);
        order += name;
      }));
    };
    for (int i = 0; i < 4; ++i) submit("hostile", 'h');
    submit("one", '1');
    submit("two", '2');
    submit("one", '1');
    open.set_value();
  }
  EXPECT_EQ(order, "h12h1hh") << "the destructor waits for all submitted work";
}

TEST(fair_thread_pool_test, an_account_has_one_thread_at_a_time) {
  std::promise<void> open, reached;
  const std::shared_future<void> gate = open.get_future().share();
  fair_thread_pool pool(2);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pool.submit("hostile", [gate] { gate.wait(); }));
  EXPECT_TRUE(pool.submit("honest", [&] { reached.set_value(); }));
  EXPECT_EQ(reached.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  open.set_value();
}

TEST(fair_thread_pool_test, work_above_the_limit_is_refused) {
  std::promise<void> open, begun;
  const std::shared_future<void> gate = open.get_future().share();
  fair_thread_pool pool(1, 2);
  EXPECT_TRUE(pool.submit("a", [&, gate] {
    begun.set_value();
    gate.wait();
  }));
  begun.get_future().wait();
  EXPECT_TRUE(pool.submit("a", [] {}));
  EXPECT_TRUE(pool.submit("b", [] {}));
  EXPECT_FALSE(pool.submit("c", [] {}));
  open.set_value();
}

}  // namespace

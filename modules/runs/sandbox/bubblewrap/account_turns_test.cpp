#include "account_turns.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <vector>

using bubblewrap::account_turns;

namespace {

TEST(account_turns_test, accounts_take_turns) {
  std::promise<void> open;
  const std::shared_future<void> gate = open.get_future().share();
  std::mutex mutex;
  std::string order;
  {
    account_turns turns(1);
    const auto note = [&](const std::string& account, char name) {
      EXPECT_TRUE(turns.submit(account, [&, name] {
        gate.wait();
        std::lock_guard lock(mutex);
        order += name;
      }));
    };
    for (int i = 0; i < 4; ++i) note("hostile", 'h');
    note("one", '1');
    note("two", '2');
    note("one", '1');
    open.set_value();
  }
  EXPECT_EQ(order, "h12h1hh") << "the destructor waits for all";
}

TEST(account_turns_test, an_account_has_one_thread_at_a_time) {
  std::promise<void> open, reached;
  const std::shared_future<void> gate = open.get_future().share();
  account_turns turns(2);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(turns.submit("hostile", [gate] { gate.wait(); }));
  EXPECT_TRUE(turns.submit("honest", [&] { reached.set_value(); }));
  EXPECT_EQ(reached.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  open.set_value();
}

TEST(account_turns_test, work_above_the_limit_is_refused) {
  std::promise<void> open, begun;
  const std::shared_future<void> gate = open.get_future().share();
  account_turns turns(1, 2);
  EXPECT_TRUE(turns.submit("a", [&, gate] {
    begun.set_value();
    gate.wait();
  }));
  begun.get_future().wait();
  EXPECT_TRUE(turns.submit("a", [] {}));
  EXPECT_TRUE(turns.submit("b", [] {}));
  EXPECT_FALSE(turns.submit("c", [] {}));
  open.set_value();
}

}  // namespace

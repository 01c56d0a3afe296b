#include "core/http/quota.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace ry::http {
namespace {

using enum quota_verdict;

TEST(quota, limits_each_caller_and_the_total) {
  quota q({10, 25});
  EXPECT_EQ(granted, q.take("a", 10));
  EXPECT_EQ(caller_full, q.take("a", 1));
  EXPECT_EQ(granted, q.take("b", 10));
  EXPECT_EQ(total_full, q.take("c", 6));
  EXPECT_EQ(granted, q.take("c", 5));
  EXPECT_EQ(25u, q.held());
  EXPECT_EQ(2u, q.refused());
}

TEST(quota, greedy_callers_leave_a_share_for_the_next_caller) {
  quota q({0, 1000});
  for (const char* caller : {"a", "b", "c", "d"})
    while (q.take(caller, 1) == granted) {
    }
  EXPECT_LT(q.held(), 1000u);
  EXPECT_EQ(granted, q.take("e", 50));
  EXPECT_EQ(total_full, q.take("a", 1)) << "the caller that holds most is rejected first";
}

TEST(quota, zero_means_no_limit) {
  quota q({0, 0});
  EXPECT_EQ(granted, q.take("a", std::uint64_t{1} << 40));
  EXPECT_EQ(granted, quota({0, 5}).take("a", 5));
  EXPECT_EQ(total_full, quota({0, 5}).take("a", 6));
  EXPECT_EQ(caller_full, quota({5, 0}).take("a", 6));
}

TEST(quota, removes_callers_that_hold_nothing) {
  quota q({10, 0});
  for (int i = 0; i < 1000; ++i) {
    const auto name = std::to_string(i);
    EXPECT_EQ(granted, q.take(name, 3));
    q.give_back(name, 3);
    EXPECT_EQ(caller_full, q.take(name, 11));
  }
  EXPECT_EQ(0u, q.callers());
  EXPECT_EQ(0u, q.held());
}

TEST(quota, a_hold_grows_shrinks_and_releases) {
  quota q({10, 0});
  {
    quota_hold hold;
    EXPECT_EQ(granted, hold.resize(99)) << "the hold was not opened";
    EXPECT_EQ(0u, hold.amount());
    hold.open(q, "a");
    EXPECT_EQ(granted, hold.resize(8));
    EXPECT_EQ(caller_full, hold.resize(11));
    EXPECT_EQ(8u, hold.amount()) << "the held amount is unchanged";
    EXPECT_EQ(granted, hold.resize(3));
    EXPECT_EQ(3u, q.held());
    quota_hold other = std::move(hold);
    EXPECT_EQ(granted, other.resize(10));
    hold = std::move(other);
    EXPECT_EQ(10u, q.held());
  }
  EXPECT_EQ(0u, q.held());
  EXPECT_EQ(0u, q.callers());
}

TEST(quota, counts_exactly_from_many_threads) {
  quota q({50, 120});
  std::atomic<bool> over{false};
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      const std::string caller = "c" + std::to_string(t % 2);
      for (int i = 0; i < 20'000; ++i) {
        quota_hold hold;
        hold.open(q, caller);
        if (hold.resize(30) == granted && q.held() > 150) over = true;
      }
    });
  for (auto& t : all) t.join();
  EXPECT_FALSE(over);
  EXPECT_EQ(0u, q.held());
  EXPECT_EQ(0u, q.callers());
}

}  // namespace
}  // namespace ry::http

#include "core/limits/bucket_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "core/limits/rate_limiter.hpp"

namespace ry::limits {
namespace {

constexpr std::int64_t second = 1'000'000;
constexpr rate one_a_second{60, 3};

TEST(bucket_table, allows_the_burst_and_then_the_rate) {
  bucket_table t;
  EXPECT_EQ(t.take("a", one_a_second, 0).remaining, 2);
  EXPECT_EQ(t.take("a", one_a_second, 0).remaining, 1);
  EXPECT_EQ(t.take("a", one_a_second, 0).remaining, 0);
  const auto refused = t.take("a", one_a_second, 0);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after_us, second);
  EXPECT_EQ(refused.full_after_us, 3 * second);
  EXPECT_TRUE(t.take("b", one_a_second, 0).allowed) << "another key";
  // A rejected request costs nothing: the next one is allowed exactly after retry_after_us.
  EXPECT_FALSE(t.take("a", one_a_second, second - 1).allowed);
  EXPECT_TRUE(t.take("a", one_a_second, second).allowed);
  EXPECT_FALSE(t.take("a", one_a_second, second).allowed);
  int let_through = 0;
  for (std::int64_t now = 2 * second; now < 102 * second; now += second / 10)
    let_through += t.take("a", one_a_second, now).allowed;
  EXPECT_EQ(let_through, 100);
}

TEST(bucket_table, requests_admitted_by_other_nodes_count) {
  bucket_table here;
  EXPECT_TRUE(here.take("a", one_a_second, 0).allowed);
  const auto usage = here.collect(0);
  ASSERT_EQ(usage.size(), 1u);
  EXPECT_EQ(usage[0].us, second);
  EXPECT_TRUE(here.collect(0).empty()) << "reported only once";
  EXPECT_TRUE(here.take("a", one_a_second, 0).allowed);  // while the answer is in flight
  here.learn("a", 5 * second, 0);  // the other nodes allowed four together
  const auto refused = here.take("a", one_a_second, 0);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after_us, 4 * second) << "five reported, one not yet reported, and this one, minus the burst";
}

TEST(bucket_table, counts_that_could_not_be_reported_are_reported_later) {
  bucket_table t;
  t.take("a", one_a_second, 0);
  t.give_back(t.collect(0));
  t.take("a", one_a_second, 0);
  const auto usage = t.collect(0);
  ASSERT_EQ(usage.size(), 1u);
  EXPECT_EQ(usage[0].us, 2 * second);
}

// Emulates core.rates_spend, for the time until which the rate of the key is used up.
void exchange_usage(bucket_table& t, std::int64_t& busy_until, std::int64_t now) {
  for (const auto& s : t.collect(now)) {
    busy_until = std::max(busy_until, now + s.from_us) + s.us;
    t.learn(s.key, busy_until - now, now);
  }
}

TEST(bucket_table, a_client_within_its_rate_owes_nothing_after_an_outage) {
  bucket_table t;
  std::int64_t all = 0, now = 0;
  for (; now < 600 * second; now += 2 * second) ASSERT_TRUE(t.take("a", one_a_second, now).allowed);
  exchange_usage(t, all, now);
  EXPECT_LE(all, now);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(t.take("a", one_a_second, now).allowed) << "the full burst is available";
  EXPECT_FALSE(t.take("a", one_a_second, now).allowed);
  exchange_usage(t, all, now);
  EXPECT_EQ(all, now + 3 * second);
}

TEST(bucket_table, an_excess_admitted_by_two_nodes_is_owed_for_a_bounded_time) {
  for (const int outage : {2, 600}) {
    bucket_table a, b;
    std::int64_t all = 0, now = 0;
    for (; now < outage * second; now += second) {
      ASSERT_TRUE(a.take("a", one_a_second, now).allowed);
      ASSERT_TRUE(b.take("a", one_a_second, now).allowed);
    }
    exchange_usage(a, all, now);
    exchange_usage(b, all, now);
    EXPECT_GE(all, now + 2 * second) << outage;
    EXPECT_LE(all, now + 13 * second) << outage;
  }
}

TEST(bucket_table, nodes_that_share_counts_often_keep_the_common_rate) {
  bucket_table nodes[3];
  const rate ten_a_second{600, 1};
  std::int64_t all = 0, let_through = 0;
  for (std::int64_t now = 0; now < 60 * second; now += second / 100) {
    for (auto& n : nodes) let_through += n.take("a", ten_a_second, now).allowed;
    if (now % (second / 4) == 0)
      for (auto& n : nodes) exchange_usage(n, all, now);
  }
  EXPECT_NEAR(let_through, 600, 10);
}

TEST(bucket_table, forgets_idle_keys_during_an_outage) {
  bucket_table t;
  t.take("a", one_a_second, 0);
  t.take("b", one_a_second, 50 * second);
  EXPECT_EQ(t.collect(70 * second).size(), 1u);
  EXPECT_EQ(t.size(), 1u);
}

TEST(bucket_table, forgets_keys_within_their_rate_and_stays_bounded) {
  bucket_table t(1600);
  for (int i = 0; i < 100'000; ++i) EXPECT_TRUE(t.take(std::to_string(i), one_a_second, 0).allowed);
  EXPECT_LE(t.size(), 1600u);
  t.collect(0);
  t.collect(second);
  EXPECT_EQ(t.size(), 0u);
}

TEST(network_of, counts_ipv6_by_the_prefix_of_a_subscriber) {
  EXPECT_EQ(network_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), network_of("2001:db8:1:2::1"));
  EXPECT_EQ(network_of("2001:db8:1:2::1"), "2001:db8:1:2::/64");
  EXPECT_EQ(network_of("2001:db8:1:2::1", ipv6_prefix::site), "2001:db8:1::/48");
  EXPECT_EQ(network_of("192.0.2.7", ipv6_prefix::site), "192.0.2.7");
  EXPECT_EQ(network_of("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_NE(network_of("2001:db8:1:2::1"), network_of("2001:db8:1:3::1"));
}

TEST(rate_limiter, with_very_many_addresses_every_request_is_counted) {
  settings s;
  s.by_account = s.by_address = {1, 5};
  rate_limiter limiter(s);
  char address[64];
  for (unsigned i = 0; i < 260'000; ++i) {
    std::snprintf(address, sizeof address, "2001:db8:%x:%x::1", i >> 16, i & 0xffff);
    limiter.by_address(address);
  }
  int account = 0, ipv4 = 0, ipv6 = 0, site = 0;
  for (unsigned i = 0; i < 20; ++i) {
    account += limiter.by_account("ann")->allowed;
    ipv4 += limiter.by_address("198.51.100.7")->allowed;
    ipv6 += limiter.by_address("2001:db8:100::1")->allowed;
    std::snprintf(address, sizeof address, "2001:db8:200:%x::1", i);
    site += limiter.by_address(address)->allowed;
  }
  EXPECT_EQ(account, 5);
  EXPECT_EQ(ipv4, 5);
  EXPECT_EQ(ipv6, 5);
  EXPECT_EQ(site, 5);
}

TEST(stream_permits, are_counted_per_account_and_released) {
  settings s;
  s.streams_per_account = 2;
  rate_limiter limiter(s);
  auto a = limiter.stream_permit("ann"), b = limiter.stream_permit("ann");
  EXPECT_TRUE(a && b);
  EXPECT_FALSE(limiter.stream_permit("ann"));
  EXPECT_TRUE(limiter.stream_permit("bob"));
  a.reset();
  EXPECT_TRUE(limiter.stream_permit("ann"));
  rate_limiter unlimited{settings{}};
  EXPECT_TRUE(unlimited.stream_permit("ann"));
}

}  // namespace
}  // namespace ry::limits

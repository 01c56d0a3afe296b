// Tests of the fairness and the limits of the lookup schedule.
#include "core/http/client/lookup_schedule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using ry::http::lookup_schedule;
using clock = lookup_schedule::clock;
using std::chrono::milliseconds;

struct lookup_schedule_test : testing::Test {
  clock::time_point now{std::chrono::hours(1)};
  lookup_schedule::limits limits;

  // Queues names, each with its own site.
  static void fill(lookup_schedule& s, const std::string& account, std::size_t n, const std::string& prefix = {}) {
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_TRUE(s.queue("www." + prefix + account + std::to_string(i) + ".test", account)) << account << i;
  }
  std::vector<lookup_schedule::turn> take_all(lookup_schedule& s) const {
    std::vector<lookup_schedule::turn> out;
    for (;;) {
      const bool expected = s.ready(now, 1) > 0;
      auto t = s.take(now);
      EXPECT_EQ(t.has_value(), expected);
      if (!t) return out;
      out.push_back(std::move(*t));
    }
  }
  static std::vector<std::string> accounts_of(const std::vector<lookup_schedule::turn>& turns) {
    std::vector<std::string> out;
    for (const auto& t : turns) out.push_back(t.account);
    return out;
  }
};

TEST(lookup_schedule, site_of_a_name) {
  for (const auto& [host, site] : std::vector<std::pair<std::string, std::string>>{{"a.b.slow.test", "slow.test"},
                                                                                   {"slow.test", "slow.test"},
                                                                                   {"host", "host"},
                                                                                   {"a.b.co.uk", "b.co.uk"},
                                                                                   {"co.uk", "co.uk"},
                                                                                   {"n1.abc.io", "abc.io"},
                                                                                   {"x.y.example.de", "example.de"},
                                                                                   {".x", ".x"},
                                                                                   {"", ""},
                                                                                   {"a.b.", "b."}}) {
    EXPECT_EQ(lookup_schedule::site_of(host), site) << host;
  }
}

TEST_F(lookup_schedule_test, accounts_take_turns) {
  limits.in_progress = 6;
  lookup_schedule s(limits);
  fill(s, "a", 200);
  fill(s, "b", 2);
  fill(s, "c", 1);
  EXPECT_EQ(accounts_of(take_all(s)), (std::vector<std::string>{"a", "b", "c", "a", "b", "a"}));
}

TEST_F(lookup_schedule_test, an_account_has_a_limited_number_in_progress) {
  lookup_schedule s(limits);
  fill(s, "a", 200);
  auto turns = take_all(s);
  EXPECT_EQ(turns.size(), limits.per_account);
  EXPECT_EQ(s.waiting(), 200 - limits.per_account);
  fill(s, "b", 1);
  EXPECT_EQ(accounts_of(take_all(s)), std::vector<std::string>{"b"});
  s.end(turns.front());
  EXPECT_EQ(accounts_of(take_all(s)), std::vector<std::string>{"a"});
}

TEST_F(lookup_schedule_test, requests_without_an_account_are_limited_per_site_only) {
  lookup_schedule s(limits);
  fill(s, "", 20);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(s.queue("n" + std::to_string(i) + ".one.test", ""));
  EXPECT_EQ(take_all(s).size(), limits.in_progress);
}

TEST_F(lookup_schedule_test, sites_of_an_account_take_turns) {
  limits.per_account = 12;
  lookup_schedule s(limits);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(s.queue("n" + std::to_string(i) + ".many.test", "a"));
  ASSERT_TRUE(s.queue("www.other.test", "a"));
  const auto turns = take_all(s);
  ASSERT_EQ(turns.size(), limits.per_site + 1);
  EXPECT_EQ(turns[1].host, "www.other.test");
}

TEST_F(lookup_schedule_test, a_name_that_two_accounts_wait_for_is_looked_up_once_at_the_first_turn) {
  lookup_schedule s(limits);
  fill(s, "a", 100);
  ASSERT_TRUE(s.queue("shared.test", "a"));
  ASSERT_TRUE(s.queue("shared.test", "a"));
  ASSERT_TRUE(s.queue("shared.test", "b"));
  EXPECT_EQ(s.waiting(), 101u);
  const auto turns = take_all(s);
  ASSERT_EQ(turns.size(), limits.per_account + 1);
  EXPECT_EQ(turns[1].host, "shared.test");
  EXPECT_EQ(turns[1].account, "b");
  EXPECT_FALSE(s.remove("shared.test")) << "removed from the queue of a as well";
}

TEST_F(lookup_schedule_test, an_account_with_unanswered_names_is_slow_for_a_while) {
  lookup_schedule s(limits);
  fill(s, "a", 20);
  auto turns = take_all(s);
  for (const auto& t : turns) {
    s.unanswered(t, now);
    s.end(t);
  }
  turns = take_all(s);
  ASSERT_EQ(turns.size(), 1u) << "a slow account has one lookup at a time";
  s.answered(turns.front());
  s.end(turns.front());
  turns = take_all(s);
  EXPECT_EQ(turns.size(), 1u) << "an answered name does not offset unanswered ones";
  now += limits.slow_time + milliseconds(1);
  EXPECT_EQ(take_all(s).size(), limits.per_account - 1);
}

TEST_F(lookup_schedule_test, one_unanswered_name_does_not_make_an_account_slow) {
  lookup_schedule s(limits);
  fill(s, "a", 20);
  const auto t = *s.take(now);
  s.unanswered(t, now);
  s.end(t);
  EXPECT_EQ(take_all(s).size(), limits.per_account);
}

TEST_F(lookup_schedule_test, slow_accounts_share_some_lookups) {
  lookup_schedule s(limits);
  for (int i = 0; i < 10; ++i) {
    const auto account = "slow" + std::to_string(i);
    fill(s, account, 20);
    for (const auto& t : take_all(s)) {
      s.unanswered(t, now);
      s.end(t);
    }
  }
  EXPECT_EQ(take_all(s).size(), limits.slow_total);
  fill(s, "good", 3, "x");
  EXPECT_EQ(accounts_of(take_all(s)), (std::vector<std::string>{"good", "good", "good"}));
}

TEST_F(lookup_schedule_test, a_slow_site_has_one_lookup_of_all_accounts) {
  lookup_schedule s(limits);
  ASSERT_TRUE(s.queue("n0.slow.test", "a"));
  const auto first = *s.take(now);
  s.unanswered(first, now);
  s.end(first);
  for (const std::string account : {"b", "c", "d"}) ASSERT_TRUE(s.queue(account + ".slow.test", account));
  const auto turns = take_all(s);
  ASSERT_EQ(turns.size(), 1u);
  s.answered(turns.front());
  s.end(turns.front());
  EXPECT_EQ(take_all(s).size(), 2u);
}

TEST_F(lookup_schedule_test, an_account_has_a_limited_number_waiting) {
  limits.waiting = 300;
  lookup_schedule s(limits);
  fill(s, "a", limits.waiting_per_account);
  EXPECT_FALSE(s.queue("over.test", "a"));
  fill(s, "b", limits.waiting - limits.waiting_per_account);
  EXPECT_FALSE(s.queue("over.test", "b"))
      << "the queue is full, and b has more than the rest that each account may have";
  fill(s, "c", limits.waiting_when_full);
  EXPECT_FALSE(s.queue("over.test", "c"));
  EXPECT_TRUE(s.remove("www.a0.test"));
  EXPECT_FALSE(s.remove("www.a0.test"));
}

}  // namespace

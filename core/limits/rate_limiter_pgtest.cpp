#include "core/limits/rate_limiter.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "core/jobs/test_node.hpp"

namespace ry::limits {
namespace {

using namespace std::chrono_literals;
using jobs::test::wait_for;

// A token refilled once a minute does not matter during a test.
settings ten_at_once() {
  settings s;
  s.by_account = {1, 10};
  return s;
}

struct member {
  explicit member(jobs::test::database& d) : db(jobs::test::node::db_settings(d)), limiter(ten_at_once()) {
    limiter.attach(db);
  }
  ~member() { limiter.detach(); }
  int let_through(const std::string& who, int tries) {
    int n = 0;
    for (int i = 0; i < tries; ++i) n += limiter.by_account(who)->allowed;
    return n;
  }
  db::database db;
  rate_limiter limiter;
};

TEST(rate_limiter, nodes_share_their_counts) {
  if (!db::test_database::available()) GTEST_SKIP() << "RY_TEST_DATABASE_URL is not set";
  jobs::test::database d;
  member a(d), b(d);
  const auto reported = [&](int n) {
    return wait_for([&] {
      return d.number(
                 "select coalesce(max(ceil(extract(epoch from busy_until - now()) / 60)), 0)::int "
                 "from core.rate") == n;
    });
  };
  EXPECT_EQ(a.let_through("ann", 4), 4);
  ASSERT_TRUE(reported(4));
  // The first report tells the other node ann's position; the second shows that the node has read it.
  EXPECT_EQ(b.let_through("ann", 1), 1);
  ASSERT_TRUE(reported(5));
  EXPECT_EQ(b.let_through("ann", 1), 1);
  ASSERT_TRUE(reported(6));
  EXPECT_EQ(b.let_through("ann", 20), 4);
  EXPECT_EQ(b.let_through("bob", 20), 10);
}

TEST(rate_limiter, counts_alone_while_the_database_is_unavailable_and_reports_afterwards) {
  if (!db::test_database::available()) GTEST_SKIP() << "RY_TEST_DATABASE_URL is not set";
  jobs::test::database d;
  member a(d);
  d.sql("alter table core.rate rename to away");
  EXPECT_EQ(a.let_through("ann", 20), 10);
  std::this_thread::sleep_for(600ms);
  EXPECT_EQ(a.let_through("ann", 20), 0);
  d.sql("alter table core.away rename to rate");
  EXPECT_TRUE(wait_for([&] {
    return d.number("select (extract(epoch from busy_until - now()) > 540)::int from core.rate") == 1;
  })) << "all ten are reported";
}

TEST(rate_limiter, keys_of_any_bytes_and_length_are_shared) {
  if (!db::test_database::available()) GTEST_SKIP() << "RY_TEST_DATABASE_URL is not set";
  jobs::test::database d;
  member a(d);
  std::string random;  // an index entry is limited to 2700 incompressible bytes
  std::mt19937 any(1);
  for (int i = 0; i < 20'000; ++i) random += static_cast<char>('!' + any() % 90);
  const std::string odd[] = {"\xff\xfe", std::string("a\0b", 3), "\xed\xa0\x80", random, random + "2"};
  for (const auto& name : odd) EXPECT_EQ(a.let_through(name, 20), 10);
  EXPECT_EQ(a.let_through("ann", 3), 3);
  const auto full = " from core.rate where busy_until > now() + interval '9 minutes'";
  EXPECT_TRUE(wait_for([&] { return d.number(std::string("select count(*)") + full) == 5; }));
  EXPECT_TRUE(wait_for([&] { return d.number("select count(*) from core.rate where key = 'account ann'") == 1; }));
}

TEST(rate_limiter, spending_counts_from_the_position_of_the_key) {
  if (!db::test_database::available()) GTEST_SKIP() << "RY_TEST_DATABASE_URL is not set";
  jobs::test::database d;
  const auto minutes = [&](const std::string& spent, const std::string& from) {
    return d.number("select round(ahead / 6e7) from core.rates_spend(array['ann'], array[" + spent +
                    " * 60000000::bigint], array[" + from + " * 60000000::bigint])");
  };
  EXPECT_EQ(minutes("30", "-60"), -30) << "half of the last hour";
  EXPECT_EQ(minutes("50", "-60"), 20) << "another node reports the same hour";
  EXPECT_EQ(minutes("5", "-60"), 25) << "the higher count has precedence";
}

}  // namespace
}  // namespace ry::limits

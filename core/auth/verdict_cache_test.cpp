#include "core/auth/verdict_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

using ry::auth::principal;
using ry::auth::verdict_cache;

namespace {
ry::auth::principal_ptr who(std::string subject) {
  auto p = std::make_shared<principal>();
  p->subject = std::move(subject);
  return p;
}
}  // namespace

TEST(verdict_cache, caches_a_verdict_until_it_expires) {
  verdict_cache cache;
  cache.insert("token", who("a"), 100, cache.epoch());
  ASSERT_TRUE(cache.find("token", 99));
  EXPECT_EQ(cache.find("token", 99)->subject, "a");
  EXPECT_FALSE(cache.find("token", 100));
  EXPECT_FALSE(cache.find("toke", 0));
  EXPECT_EQ(cache.size(), 0u);
}

TEST(verdict_cache, forgets_one_subject_and_earlier_decisions_about_it) {
  verdict_cache cache;
  const auto before = cache.epoch();
  cache.insert("t1", who("a"), 100, before);
  cache.insert("t2", who("b"), 100, before);
  cache.forget("a");
  EXPECT_FALSE(cache.find("t1", 0));
  EXPECT_TRUE(cache.find("t2", 0));
  cache.insert("t1", who("a"), 100, before);
  EXPECT_FALSE(cache.find("t1", 0));
  cache.insert("t1", who("a"), 100, cache.epoch());
  EXPECT_TRUE(cache.find("t1", 0));
}

TEST(verdict_cache, stays_bounded_and_keeps_recently_used_entries) {
  verdict_cache cache(3200);
  for (int i = 0; i < 50'000; ++i) {
    cache.insert("token" + std::to_string(i), who("x"), 100, cache.epoch());
    ASSERT_TRUE(cache.find("token0", 0)) << i;
  }
  EXPECT_LE(cache.size(), 3200u);
  EXPECT_GE(cache.size(), 1600u);
}

TEST(verdict_cache, serves_many_threads) {
  verdict_cache cache(256);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3000; ++i) {
        const auto token = std::to_string(i % 300);
        if (const auto p = cache.find(token, 0); p && p->subject != token) ++wrong;
        cache.insert(token, who(token), 100, cache.epoch());
        if (i % 500 == t) cache.forget(token);
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

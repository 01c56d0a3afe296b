#include "warm_pool.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace bubblewrap;
using std::chrono::seconds;

namespace {

using pool_of_numbers = warm_pool<int, char>;
using numbers = std::vector<int*>;

struct warm_pool_test : ::testing::Test {
  void start(pool_of_numbers& pool, const std::string& kind, char& on, std::initializer_list<int*> sandboxes) {
    ASSERT_EQ(pool.order_missing(kind, &on, now).count, sandboxes.size());
    for (int* each : sandboxes) EXPECT_EQ(pool.started(kind, &on, 0, each, [] { return false; }), numbers{});
  }
  int a = 1, b = 2, c = 3, d = 4, e = 5;
  char exec = 'h', other_exec = 't';
  pool_of_numbers::clock::time_point now{};
};

TEST_F(warm_pool_test, returns_each_sandbox_once_and_only_for_its_kind_and_executor) {
  pool_of_numbers pool({2, 10, seconds(60)});
  EXPECT_EQ(pool.claim("x", &exec, now), nullptr);
  start(pool, "x", exec, {&a, &b});
  EXPECT_EQ(pool.order_missing("x", &exec, now).count, 0u);
  EXPECT_EQ(pool.claim("y", &exec, now), nullptr);
  EXPECT_EQ(pool.claim("x", &other_exec, now), nullptr);
  EXPECT_EQ(pool.claim("x", &exec, now), &a);
  EXPECT_EQ(pool.claim("x", &exec, now), &b);
  EXPECT_EQ(pool.claim("x", &exec, now), nullptr);
  EXPECT_EQ(pool.order_missing("x", &exec, now).count, 2u);
}

TEST_F(warm_pool_test, counts_sandboxes_that_are_being_started) {
  pool_of_numbers pool({2, 10, seconds(60)});
  EXPECT_EQ(pool.order_missing("x", &exec, now).count, 2u);
  EXPECT_EQ(pool.order_missing("x", &exec, now).count, 0u);
  pool.started("x", &exec, 0, nullptr, [] { return false; });
  EXPECT_EQ(pool.order_missing("x", &exec, now).count, 1u) << "one start failed";
}

TEST_F(warm_pool_test, orders_no_more_sandboxes_than_the_total_allows) {
  pool_of_numbers pool({1, 2, seconds(60)});
  start(pool, "x", exec, {&a});
  ASSERT_EQ(pool.order_missing("y", &exec, now).count, 1u);
  EXPECT_EQ(pool.order_missing("z", &exec, now).count, 0u) << "the total includes the sandbox that is being started";
  EXPECT_EQ(pool.started("y", &exec, 0, &b, [] { return false; }), numbers{});
  EXPECT_EQ(pool.order_missing("z", &exec, now).count, 0u);
  EXPECT_EQ(pool_of_numbers({4, 1, seconds(60)}).order_missing("x", &exec, now).count, 1u);
}

TEST_F(warm_pool_test, a_new_kind_replaces_the_second_sandbox_of_another_kind) {
  pool_of_numbers pool({2, 4, seconds(60)});
  start(pool, "x", exec, {&a, &b});
  now += seconds(1);
  start(pool, "y", exec, {&c, &d});
  ASSERT_EQ(pool.order_missing("z", &exec, now).count, 1u);
  EXPECT_EQ(pool.order_missing("v", &exec, now).count, 0u) << "only one replacement at a time";
  EXPECT_EQ(pool.started("z", &exec, 0, &e, [] { return false; }), numbers{&a})
      << "the kind that was not requested for the longest time";
  EXPECT_EQ(pool.claim("x", &exec, now), &b);
}

// If more kinds of programs are used in turn than the total allows, the first kinds keep their sandboxes.
TEST_F(warm_pool_test, kinds_do_not_replace_each_others_last_sandbox) {
  pool_of_numbers pool({2, 3, seconds(60)});
  int of[5] = {};
  std::size_t starts = 0, hits = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 5; ++i) {
      now += seconds(1);
      const std::string kind = std::to_string(i);
      hits += pool.claim(kind, &exec, now) != nullptr;
      const auto order = pool.order_missing(kind, &exec, now);
      starts += order.count;
      for (std::size_t n = 0; n < order.count; ++n)
        EXPECT_LE(pool.started(kind, &exec, order.generation, &of[i], [] { return false; }).size(), 1u);
    }
  }
  EXPECT_GE(hits, 25u);
  EXPECT_LE(starts, hits + 5);
}

TEST_F(warm_pool_test, a_kind_may_have_a_lower_limit) {
  pool_of_numbers pool({2, 10, seconds(60)});
  EXPECT_EQ(pool.order_missing("x", &exec, now, 1).count, 1u);
  EXPECT_EQ(pool.order_missing("x", &exec, now, 1).count, 0u);
  EXPECT_EQ(pool.order_missing("y", &exec, now, 0).count, 0u);
}

TEST_F(warm_pool_test, returns_the_sandboxes_of_idle_kinds) {
  pool_of_numbers pool({1, 10, seconds(60)});
  start(pool, "x", exec, {&a});
  start(pool, "y", exec, {&b});
  now += seconds(59);
  EXPECT_EQ(pool.expire(now), numbers{});
  EXPECT_EQ(pool.claim("y", &exec, now), &b);
  now += seconds(1);
  EXPECT_EQ(pool.expire(now), numbers{&a});
  EXPECT_FALSE(pool.empty());
  now += seconds(60);
  EXPECT_EQ(pool.expire(now), numbers{});
  EXPECT_TRUE(pool.empty());
}

TEST_F(warm_pool_test, keeps_a_kind_while_one_of_its_sandboxes_is_being_started) {
  pool_of_numbers pool({1, 10, seconds(60)});
  ASSERT_EQ(pool.order_missing("x", &exec, now).count, 1u);
  now += seconds(100);
  EXPECT_EQ(pool.expire(now), numbers{});
  EXPECT_EQ(pool.started("x", &exec, 0, &a, [] { return false; }), numbers{});
  EXPECT_EQ(pool.expire(now), numbers{&a});
}

TEST_F(warm_pool_test, a_sandbox_that_exited_is_removed) {
  pool_of_numbers pool({2, 10, seconds(60)});
  start(pool, "x", exec, {&a, &b});
  EXPECT_TRUE(pool.remove(&a));
  EXPECT_FALSE(pool.remove(&a));
  EXPECT_EQ(pool.claim("x", &exec, now), &b);
  ASSERT_EQ(pool.order_missing("x", &exec, now).count, 2u);
  EXPECT_EQ(pool.started("x", &exec, 0, &c, [] { return true; }), numbers{&c})
      << "it exited before it was added to the pool";
  EXPECT_EQ(pool.claim("x", &exec, now), nullptr);
}

TEST_F(warm_pool_test, sandboxes_ordered_before_a_clear_are_not_used) {
  pool_of_numbers pool({2, 10, seconds(60)});
  ASSERT_EQ(pool.order_missing("x", &exec, now).count, 2u);
  EXPECT_EQ(pool.started("x", &exec, 0, &a, [] { return false; }), numbers{});
  EXPECT_EQ(pool.clear(), numbers{&a});
  ASSERT_EQ(pool.order_missing("x", &exec, now).count, 2u) << "the sandbox that is still being started does not count";
  EXPECT_EQ(pool.started("x", &exec, 0, &b, [] { return false; }), numbers{&b});
  for (int* each : {&c, &d}) EXPECT_EQ(pool.started("x", &exec, 1, each, [] { return false; }), numbers{});
  EXPECT_EQ(pool.claim("x", &exec, now), &c);
}

TEST_F(warm_pool_test, accepts_no_sandboxes_after_it_is_closed) {
  pool_of_numbers pool({2, 10, seconds(60)});
  ASSERT_EQ(pool.order_missing("x", &exec, now).count, 2u);
  pool.started("x", &exec, 0, &a, [] { return false; });
  EXPECT_EQ(pool.close(), numbers{&a});
  EXPECT_EQ(pool.started("x", &exec, 0, &b, [] { return false; }), numbers{&b});
  EXPECT_EQ(pool.order_missing("x", &exec, now).count, 0u);
  EXPECT_FALSE(pool_of_numbers({0, 10, seconds(60)}).enabled());
  EXPECT_EQ(pool_of_numbers({0, 10, seconds(60)}).order_missing("x", &exec, now).count, 0u);
}

TEST(host_file_identities_test, change_if_a_file_is_replaced_or_added) {
  char name[] = "/tmp/ry-warm-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const fs::path root = name;
  std::ofstream(root / "a") << "1";
  const std::vector<std::string> words = {"--ro-bind", "a", "/a", "--bind-try", (root / "b").string(), "/b", "--", "x"};
  const auto first = host_file_identities(words, root.string());
  EXPECT_EQ(host_file_identities(words, root.string()), first);
  std::ofstream(root / "new") << "2";
  fs::rename(root / "new", root / "a");
  const auto replaced = host_file_identities(words, root.string());
  EXPECT_NE(replaced, first);
  std::ofstream(root / "b") << "3";
  EXPECT_NE(host_file_identities(words, root.string()), replaced);
  fs::remove_all(root);
}

TEST(kind_of_test, depends_on_the_sandbox_but_not_on_program_and_user) {
  command_spec spec;
  spec.mode = confinement::drop_root;
  spec.bwrap_path = "/usr/bin/bwrap";
  spec.exec_path = "/usr/bin/true";
  spec.etc_directory = "/tmp";
  spec.argv = {"one"};
  spec.uid = 61184;
  const std::string name = kind_of(spec).name;
  spec.argv = {"other", "words"};
  spec.uid = 61185;
  EXPECT_EQ(kind_of(spec).name, name);
  spec.network = network_access::host;
  EXPECT_NE(kind_of(spec).name, name);
  spec.network = network_access::none;
  spec.limit.processes = 7;
  EXPECT_NE(kind_of(spec).name, name);
  spec.limit.processes = 0;
  spec.host_paths = {{"/opt", false}};
  const std::string readable = kind_of(spec).name;
  EXPECT_NE(readable, name);
  spec.host_paths = {{"/opt", true}};
  EXPECT_NE(kind_of(spec).name, readable);
  EXPECT_GT(kind_of(spec).max_waiting, 1u);
  spec.cache = "/tmp/a";
  EXPECT_EQ(kind_of(spec).max_waiting, 1u) << "a cache belongs to one command of one account";
}

TEST(mount_table_test, is_unchanged_without_a_mount) {
  const mount_table table;
  EXPECT_FALSE(table.changed());
}

}  // namespace

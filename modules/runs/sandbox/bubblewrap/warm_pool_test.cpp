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
  void start(pool_of_numbers& pool, const std::string& kind, char& on, std::initializer_list<int*> which) {
    ASSERT_EQ(pool.wanted(kind, &on, now).count, which.size());
    for (int* each : which) EXPECT_EQ(pool.started(kind, &on, 0, each, [] { return false; }), numbers{});
  }
  int a = 1, b = 2, c = 3, d = 4, e = 5;
  char here = 'h', there = 't';
  pool_of_numbers::clock::time_point now{};
};

TEST_F(warm_pool_test, gives_each_sandbox_once_and_only_for_its_kind_and_executor) {
  pool_of_numbers pool({2, 10, seconds(60)});
  EXPECT_EQ(pool.claim("x", &here, now), nullptr);
  start(pool, "x", here, {&a, &b});
  EXPECT_EQ(pool.wanted("x", &here, now).count, 0u);
  EXPECT_EQ(pool.claim("y", &here, now), nullptr);
  EXPECT_EQ(pool.claim("x", &there, now), nullptr);
  EXPECT_EQ(pool.claim("x", &here, now), &a);
  EXPECT_EQ(pool.claim("x", &here, now), &b);
  EXPECT_EQ(pool.claim("x", &here, now), nullptr);
  EXPECT_EQ(pool.wanted("x", &here, now).count, 2u);
}

TEST_F(warm_pool_test, counts_those_that_are_being_started) {
  pool_of_numbers pool({2, 10, seconds(60)});
  EXPECT_EQ(pool.wanted("x", &here, now).count, 2u);
  EXPECT_EQ(pool.wanted("x", &here, now).count, 0u);
  pool.started("x", &here, 0, nullptr, [] { return false; });
  EXPECT_EQ(pool.wanted("x", &here, now).count, 1u) << "one start failed";
}

TEST_F(warm_pool_test, starts_no_more_than_there_are_free_places) {
  pool_of_numbers pool({1, 2, seconds(60)});
  start(pool, "x", here, {&a});
  ASSERT_EQ(pool.wanted("y", &here, now).count, 1u);
  EXPECT_EQ(pool.wanted("z", &here, now).count, 0u) << "one is being started";
  EXPECT_EQ(pool.started("y", &here, 0, &b, [] { return false; }), numbers{});
  EXPECT_EQ(pool.wanted("z", &here, now).count, 0u);
  EXPECT_EQ(pool_of_numbers({4, 1, seconds(60)}).wanted("x", &here, now).count, 1u);
}

TEST_F(warm_pool_test, gives_a_new_kind_the_second_place_of_another_one) {
  pool_of_numbers pool({2, 4, seconds(60)});
  start(pool, "x", here, {&a, &b});
  now += seconds(1);
  start(pool, "y", here, {&c, &d});
  ASSERT_EQ(pool.wanted("z", &here, now).count, 1u);
  EXPECT_EQ(pool.wanted("v", &here, now).count, 0u) << "one at a time";
  EXPECT_EQ(pool.started("z", &here, 0, &e, [] { return false; }), numbers{&a}) << "not asked for longest";
  EXPECT_EQ(pool.claim("x", &here, now), &b);
}

// When many kinds of programs are used in turn, the first kinds keep their sandboxes.
TEST_F(warm_pool_test, does_not_restart_sandboxes_that_do_not_fit) {
  pool_of_numbers pool({2, 3, seconds(60)});
  int of[5] = {};
  std::size_t starts = 0, hits = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 5; ++i) {
      now += seconds(1);
      const std::string kind = std::to_string(i);
      hits += pool.claim(kind, &here, now) != nullptr;
      const auto order = pool.wanted(kind, &here, now);
      starts += order.count;
      for (std::size_t n = 0; n < order.count; ++n)
        EXPECT_LE(pool.started(kind, &here, order.generation, &of[i], [] { return false; }).size(), 1u);
    }
  }
  EXPECT_GE(hits, 25u);
  EXPECT_LE(starts, hits + 5);
}

TEST_F(warm_pool_test, may_be_limited_to_one_of_a_kind) {
  pool_of_numbers pool({2, 10, seconds(60)});
  EXPECT_EQ(pool.wanted("x", &here, now, 1).count, 1u);
  EXPECT_EQ(pool.wanted("x", &here, now, 1).count, 0u);
  EXPECT_EQ(pool.wanted("y", &here, now, 0).count, 0u);
}

TEST_F(warm_pool_test, ends_kinds_that_are_idle) {
  pool_of_numbers pool({1, 10, seconds(60)});
  start(pool, "x", here, {&a});
  start(pool, "y", here, {&b});
  now += seconds(59);
  EXPECT_EQ(pool.expire(now), numbers{});
  EXPECT_EQ(pool.claim("y", &here, now), &b);
  now += seconds(1);
  EXPECT_EQ(pool.expire(now), numbers{&a});
  EXPECT_FALSE(pool.empty());
  now += seconds(60);
  EXPECT_EQ(pool.expire(now), numbers{});
  EXPECT_TRUE(pool.empty());
}

TEST_F(warm_pool_test, keeps_a_kind_while_a_sandbox_of_it_is_being_started) {
  pool_of_numbers pool({1, 10, seconds(60)});
  ASSERT_EQ(pool.wanted("x", &here, now).count, 1u);
  now += seconds(100);
  EXPECT_EQ(pool.expire(now), numbers{});
  EXPECT_EQ(pool.started("x", &here, 0, &a, [] { return false; }), numbers{});
  EXPECT_EQ(pool.expire(now), numbers{&a});
}

TEST_F(warm_pool_test, forgets_a_sandbox_that_ended) {
  pool_of_numbers pool({2, 10, seconds(60)});
  start(pool, "x", here, {&a, &b});
  EXPECT_TRUE(pool.remove(&a));
  EXPECT_FALSE(pool.remove(&a));
  EXPECT_EQ(pool.claim("x", &here, now), &b);
  ASSERT_EQ(pool.wanted("x", &here, now).count, 2u);
  EXPECT_EQ(pool.started("x", &here, 0, &c, [] { return true; }), numbers{&c}) << "ended before it was noted";
  EXPECT_EQ(pool.claim("x", &here, now), nullptr);
}

TEST_F(warm_pool_test, gives_nothing_that_was_begun_before_it_was_cleared) {
  pool_of_numbers pool({2, 10, seconds(60)});
  ASSERT_EQ(pool.wanted("x", &here, now).count, 2u);
  EXPECT_EQ(pool.started("x", &here, 0, &a, [] { return false; }), numbers{});
  EXPECT_EQ(pool.clear(), numbers{&a});
  ASSERT_EQ(pool.wanted("x", &here, now).count, 2u) << "the one that is being started does not count";
  EXPECT_EQ(pool.started("x", &here, 0, &b, [] { return false; }), numbers{&b});
  for (int* each : {&c, &d}) EXPECT_EQ(pool.started("x", &here, 1, each, [] { return false; }), numbers{});
  EXPECT_EQ(pool.claim("x", &here, now), &c);
}

TEST_F(warm_pool_test, takes_nothing_once_it_is_closed) {
  pool_of_numbers pool({2, 10, seconds(60)});
  ASSERT_EQ(pool.wanted("x", &here, now).count, 2u);
  pool.started("x", &here, 0, &a, [] { return false; });
  EXPECT_EQ(pool.close(), numbers{&a});
  EXPECT_EQ(pool.started("x", &here, 0, &b, [] { return false; }), numbers{&b});
  EXPECT_EQ(pool.wanted("x", &here, now).count, 0u);
  EXPECT_FALSE(pool_of_numbers({0, 10, seconds(60)}).enabled());
  EXPECT_EQ(pool_of_numbers({0, 10, seconds(60)}).wanted("x", &here, now).count, 0u);
}

TEST(host_file_identities_test, tell_of_replaced_and_new_files) {
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

TEST(kind_of_test, depends_on_the_sandbox_and_not_on_program_and_user) {
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
  spec.places = {{"/opt", false}};
  const std::string readable = kind_of(spec).name;
  EXPECT_NE(readable, name);
  spec.places = {{"/opt", true}};
  EXPECT_NE(kind_of(spec).name, readable);
  EXPECT_GT(kind_of(spec).most, 1u);
  spec.cache = "/tmp/a";
  EXPECT_EQ(kind_of(spec).most, 1u) << "it is of one command of one account";
}

TEST(mount_table_test, is_unchanged_without_a_mount) {
  const mount_table table;
  EXPECT_FALSE(table.changed());
}

}  // namespace

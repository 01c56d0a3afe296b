#include "core/db/migrator.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "core/db/test_database.hpp"

namespace {

using ry::db::connect_settings;
using ry::db::connection;
using ry::db::migration_step;
using ry::db::migrator;
using ry::db::test_database;
using ry::module::module_migrations;

connect_settings settings(const test_database& d) {
  connect_settings s;
  s.url = d.url();
  return s;
}

std::string ask(const test_database& d, std::string_view sql) {
  connection c(settings(d));
  c.open();
  auto rows = c.exec(sql);
  return rows.empty() ? std::string() : std::string(rows.text(0, 0));
}

module_migrations core_only() {
  return {"core", {{"0001_base", "create table base (n int)", 0}}};
}

module_migrations shop(std::vector<ry::module::migration> list) {
  return {"shop", std::move(list)};
}

class migrations : public testing::Test {
 protected:
  void SetUp() override {
    if (!test_database::available()) GTEST_SKIP() << "RY_TEST_DATABASE_URL is not set";
    d = std::make_unique<test_database>();
  }
  std::unique_ptr<test_database> d;
};

TEST_F(migrations, apply_in_order_in_the_modules_own_schema_and_once) {
  const std::vector<module_migrations> all = {
      core_only(),
      shop({{"0001_items", "create table items (n int); insert into items values (1)", 0},
            {"0002_more", "alter table items add column t text; insert into base values (7)", 0}})};
  auto first = migrator(settings(*d)).up(all);
  ASSERT_TRUE(first.ok()) << first.problems[0].message;
  EXPECT_EQ(first.applied.size(), 3u);
  EXPECT_EQ(ask(*d, "select count(*) from shop.items"), "1");
  EXPECT_EQ(ask(*d, "select n from core.base"), "7");
  auto second = migrator(settings(*d)).up(all);
  EXPECT_TRUE(second.ok());
  EXPECT_TRUE(second.applied.empty());
  for (const auto& step : migrator(settings(*d)).status(all))
    EXPECT_EQ(step.is, migration_step::state::applied) << step.id;
}

TEST_F(migrations, a_step_that_fails_leaves_nothing_and_stops_its_module_only) {
  const std::vector<module_migrations> all = {
      core_only(),
      shop({{"0001_ok", "create table a (n int)", 0},
            {"0002_bad", "create table b (n int); select * from nowhere", 0},
            {"0003_never", "create table c (n int)", 0}}),
      {"other", {{"0001_ok", "create table x (n int)", 0}}}};
  auto report = migrator(settings(*d)).up(all);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].module, "shop");
  EXPECT_NE(report.problems[0].message.find("0002_bad"), std::string::npos)
      << report.problems[0].message;
  EXPECT_NE(report.problems[0].message.find("nowhere"), std::string::npos)
      << report.problems[0].message;
  EXPECT_EQ(ask(*d, "select to_regclass('shop.a') is not null"), "t");
  EXPECT_EQ(ask(*d, "select to_regclass('shop.b') is null and to_regclass('shop.c') is null"), "t");
  EXPECT_EQ(ask(*d, "select to_regclass('other.x') is not null"), "t");
}

TEST_F(migrations, text_that_was_changed_after_it_was_applied_is_refused) {
  ASSERT_TRUE(migrator(settings(*d))
                  .up(std::vector{core_only(), shop({{"0001_a", "create table a (n int)", 0}})})
                  .ok());
  auto report =
      migrator(settings(*d))
          .up(std::vector{core_only(), shop({{"0001_a", "create table a (n bigint)", 0}})});
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_NE(report.problems[0].message.find("0001_a"), std::string::npos)
      << report.problems[0].message;
}

TEST_F(migrations, a_database_ahead_of_the_code_is_refused) {
  ASSERT_TRUE(migrator(settings(*d))
                  .up(std::vector{core_only(), shop({{"0001_a", "create table a (n int)", 0},
                                                     {"0002_b", "create table b (n int)", 0}})})
                  .ok());
  auto report = migrator(settings(*d))
                    .up(std::vector{core_only(), shop({{"0001_a", "create table a (n int)", 0}})});
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_NE(report.problems[0].message.find("0002_b"), std::string::npos)
      << report.problems[0].message;
}

TEST_F(migrations, many_nodes_at_once_apply_each_step_once) {
  const std::vector<module_migrations> all = {
      core_only(), shop({{"0001_a", "create table a (n int); insert into a values (1)", 0},
                         {"0002_b", "insert into a values (2)", 0}})};
  std::atomic<std::size_t> applied{0}, bad{0};
  std::vector<std::thread> nodes;
  for (int i = 0; i < 6; ++i) {
    nodes.emplace_back([&] {
      auto report = migrator(settings(*d)).up(all);
      applied += report.applied.size();
      bad += report.problems.size();
    });
  }
  for (auto& t : nodes) t.join();
  EXPECT_EQ(bad, 0u);
  EXPECT_EQ(applied, 3u);
  EXPECT_EQ(ask(*d, "select count(*) from shop.a"), "2");
}

TEST_F(migrations, a_step_outside_of_a_transaction) {
  const std::vector<module_migrations> all = {
      core_only(),
      shop({{"0001_a", "create table a (n int)", 0},
            {"0002_i", "create index concurrently a_n on a (n)", RY_MIGRATION_NO_TX}})};
  auto report = migrator(settings(*d)).up(all);
  ASSERT_TRUE(report.ok()) << report.problems[0].message;
  EXPECT_EQ(ask(*d, "select to_regclass('shop.a_n') is not null"), "t");
}

}  // namespace

#include "core/db/migrator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
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
      core_only(), shop({{"0001_items", "create table items (n int); insert into items values (1)", 0},
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

TEST_F(migrations, a_failed_migration_is_rolled_back_and_stops_only_its_module) {
  const std::vector<module_migrations> all = {core_only(),
                                              shop({{"0001_ok", "create table a (n int)", 0},
                                                    {"0002_bad", "create table b (n int); select * from nowhere", 0},
                                                    {"0003_never", "create table c (n int)", 0}}),
                                              {"other", {{"0001_ok", "create table x (n int)", 0}}}};
  auto report = migrator(settings(*d)).up(all);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].module, "shop");
  EXPECT_NE(report.problems[0].message.find("0002_bad"), std::string::npos) << report.problems[0].message;
  EXPECT_NE(report.problems[0].message.find("nowhere"), std::string::npos) << report.problems[0].message;
  EXPECT_EQ(ask(*d, "select to_regclass('shop.a') is not null"), "t");
  EXPECT_EQ(ask(*d, "select to_regclass('shop.b') is null and to_regclass('shop.c') is null"), "t");
  EXPECT_EQ(ask(*d, "select to_regclass('other.x') is not null"), "t");
}

TEST_F(migrations, a_migration_changed_after_it_was_applied_is_rejected) {
  ASSERT_TRUE(
      migrator(settings(*d)).up(std::vector{core_only(), shop({{"0001_a", "create table a (n int)", 0}})}).ok());
  auto report = migrator(settings(*d)).up(std::vector{core_only(), shop({{"0001_a", "create table a (n bigint)", 0}})});
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_NE(report.problems[0].message.find("0001_a"), std::string::npos) << report.problems[0].message;
}

std::vector<module_migrations> version_1() {
  return {core_only(), shop({{"0001_a", "create table a (n int)", 0}})};
}
std::vector<module_migrations> version_2(std::uint32_t flags) {
  return {core_only(), shop({{"0001_a", "create table a (n int)", 0}, {"0002_b", "create table b (n int)", flags}})};
}

TEST_F(migrations, an_older_version_is_rejected_once_a_newer_one_has_started) {
  ASSERT_TRUE(migrator(settings(*d)).up(version_2(0)).unconfirmed);
  EXPECT_TRUE(migrator(settings(*d)).up(version_1()).ok()) << "the newer version has never started";
  migrator(settings(*d)).confirm(version_2(0));
  const auto report = migrator(settings(*d)).up(version_1());
  ASSERT_EQ(report.problems.size(), 1u);
  for (const char* part : {"0002_b", "modules.shop.allow_newer_schema", "runyard migrate forget shop 0002_b"})
    EXPECT_NE(report.problems[0].message.find(part), std::string::npos) << report.problems[0].message;
  auto willing = version_1();
  willing[1].allow_newer_schema = true;
  EXPECT_TRUE(migrator(settings(*d)).up(willing).ok());
  EXPECT_FALSE(migrator(settings(*d)).up(version_2(0)).unconfirmed);
}

class counting_observer : public ry::db::migration_observer {
 public:
  void waiting() override { waits = true; }
  void running(const migration_step& s) override { events.push_back("running " + s.id); }
  void applied(const migration_step& s) override { events.push_back("applied " + s.id); }
  void failed(const migration_step& s) override { events.push_back("failed " + s.id); }
  std::atomic<bool> waits{false};
  std::vector<std::string> events;
};

TEST_F(migrations, an_observer_is_called_for_each_migration_and_its_result) {
  counting_observer seen;
  (void)migrator(settings(*d)).up(std::vector{core_only(), shop({{"0001_bad", "select * from nowhere", 0}})}, &seen);
  EXPECT_EQ(seen.events, (std::vector<std::string>{"running 0001_base", "applied 0001_base", "running 0001_bad",
                                                   "failed 0001_bad"}));
  EXPECT_FALSE(seen.waits);
}

// An older version starts while a node of the newer version has applied its migrations and is still starting.
class start_beside_a_newer_version : public migrations {
 protected:
  void SetUp() override {
    migrations::SetUp();
    if (!d) return;
    newer.emplace(settings(*d));
    ASSERT_TRUE(newer->up(version_2(0)).unconfirmed);
    older = std::async(std::launch::async, [this] { return migrator(settings(*d)).up(version_1(), &seen); });
    while (!seen.waits && older.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) continue;
    ASSERT_TRUE(seen.waits) << "it does not wait for the outcome";
  }
  counting_observer seen;
  std::future<ry::db::migration_report> older;
  std::optional<migrator> newer;  // destroyed first, because the older one waits for it
};

TEST_F(start_beside_a_newer_version, is_rejected_if_the_newer_version_starts) {
  newer->confirm(version_2(0));
  const auto report = older.get();
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_NE(report.problems[0].message.find("0002_b"), std::string::npos) << report.problems[0].message;
}

TEST_F(start_beside_a_newer_version, succeeds_if_the_newer_version_fails) {
  newer.reset();
  EXPECT_TRUE(older.get().ok());
}

TEST_F(migrations, a_compatible_migration_of_a_starting_node_is_not_awaited) {
  migrator newer(settings(*d));
  ASSERT_TRUE(newer.up(version_2(RY_MIGRATION_COMPATIBLE)).unconfirmed);
  counting_observer seen;
  EXPECT_TRUE(migrator(settings(*d)).up(version_1(), &seen).ok());
  EXPECT_FALSE(seen.waits);
}

TEST_F(migrations, an_older_version_works_with_compatible_migrations) {
  ASSERT_TRUE(migrator(settings(*d)).up(version_2(RY_MIGRATION_COMPATIBLE)).ok());
  migrator(settings(*d)).confirm(version_2(RY_MIGRATION_COMPATIBLE));
  EXPECT_TRUE(migrator(settings(*d)).up(version_1()).ok());
  const auto steps = migrator(settings(*d)).status(version_1());
  EXPECT_EQ(steps.back().is, migration_step::state::unknown);
  EXPECT_TRUE(steps.back().tolerated);
}

// A function whose text changes with its number; the second version is compatible with the first.
std::vector<module_migrations> with_function(const char* number, const char* answer) {
  return {core_only(),
          shop({{"0001_a", "create table a (n int)", 0},
                {std::string(number) + "_f",
                 std::string("create or replace function f() returns int language sql as 'select ") + answer + "'",
                 RY_MIGRATION_REPEATABLE | RY_MIGRATION_COMPATIBLE}})};
}

TEST_F(migrations, a_repeatable_migration_with_a_higher_number_replaces_the_earlier_one) {
  ASSERT_TRUE(migrator(settings(*d)).up(with_function("0002", "1")).ok());
  EXPECT_EQ(ask(*d, "select shop.f()"), "1");
  const auto report = migrator(settings(*d)).up(with_function("0003", "2"));
  ASSERT_TRUE(report.ok()) << report.problems[0].message;
  ASSERT_EQ(report.applied.size(), 1u);
  EXPECT_EQ(report.applied[0].id, "0003_f");
  EXPECT_EQ(ask(*d, "select shop.f()"), "2");
  EXPECT_TRUE(migrator(settings(*d)).up(with_function("0003", "2")).applied.empty());
  const auto steps = migrator(settings(*d)).status(with_function("0003", "2"));
  EXPECT_EQ(std::count_if(steps.begin(), steps.end(), [](const auto& s) { return s.module == "shop"; }), 2)
      << "a replaced migration is not listed";
}

TEST_F(migrations, an_older_version_keeps_the_repeatable_migration_of_a_newer_one) {
  ASSERT_TRUE(migrator(settings(*d)).up(with_function("0003", "2")).ok());
  migrator(settings(*d)).confirm(with_function("0003", "2"));
  const auto report = migrator(settings(*d)).up(with_function("0002", "1"));
  ASSERT_TRUE(report.ok()) << report.problems[0].message;
  EXPECT_TRUE(report.applied.empty());
  EXPECT_EQ(ask(*d, "select shop.f()"), "2");
}

TEST_F(migrations, a_repeatable_migration_that_changes_under_its_number_is_refused) {
  ASSERT_TRUE(migrator(settings(*d)).up(with_function("0002", "1")).ok());
  const auto report = migrator(settings(*d)).up(with_function("0002", "2"));
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_NE(report.problems[0].message.find("raise the number in its first line"), std::string::npos)
      << report.problems[0].message;
  EXPECT_EQ(ask(*d, "select shop.f()"), "1");
}

TEST_F(migrations, a_renamed_migration_is_named) {
  ASSERT_TRUE(migrator(settings(*d)).up(version_1()).ok());
  const auto report =
      migrator(settings(*d)).up(std::vector{core_only(), shop({{"0001_b", "create table a (n int)", 0}})});
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_NE(report.problems[0].message.find("was applied"), std::string::npos) << report.problems[0].message;
  EXPECT_NE(report.problems[0].message.find("under the name 0001_a"), std::string::npos) << report.problems[0].message;
}

TEST_F(migrations, a_record_is_found_by_its_number_and_deleted) {
  ASSERT_TRUE(migrator(settings(*d)).up(version_2(0)).ok());
  EXPECT_EQ(migrator(settings(*d)).find("shop", "2").id, "0002_b");
  EXPECT_EQ(migrator(settings(*d)).find("shop", "0002_b").id, "0002_b");
  EXPECT_NE(migrator(settings(*d)).find("shop", "9").problem.find("0001_a, 0002_b"), std::string::npos);
  EXPECT_NE(migrator(settings(*d)).find("none", "1").problem, "");
  migrator(settings(*d)).forget("shop", "0002_b");
  EXPECT_EQ(ask(*d, "select string_agg(id, ',') from core.migration where module = 'shop'"), "0001_a");
}

TEST_F(migrations, a_table_of_an_older_host_gets_the_new_columns) {
  ask(*d, "create schema core");
  ask(*d,
      "create table core.migration (module text not null, id text not null, checksum text not null,"
      " applied_at timestamptz not null default now(), primary key (module, id))");
  ask(*d, "insert into core.migration (module, id, checksum) values ('shop', '0009_old', 'x')");
  EXPECT_EQ(migrator(settings(*d)).status(version_1()).back().id, "0009_old");
  const auto report = migrator(settings(*d)).up(version_1());
  EXPECT_FALSE(report.ok()) << "migrations applied by an older host count as confirmed";
}

TEST_F(migrations, concurrent_nodes_apply_each_migration_once) {
  const std::vector<module_migrations> all = {core_only(),
                                              shop({{"0001_a", "create table a (n int); insert into a values (1)", 0},
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

TEST_F(migrations, a_migration_can_run_outside_a_transaction) {
  const std::vector<module_migrations> all = {
      core_only(), shop({{"0001_a", "create table a (n int)", 0},
                         {"0002_i", "create index concurrently a_n on a (n)", RY_MIGRATION_NO_TX}})};
  auto report = migrator(settings(*d)).up(all);
  ASSERT_TRUE(report.ok()) << report.problems[0].message;
  EXPECT_EQ(ask(*d, "select to_regclass('shop.a_n') is not null"), "t");
}

}  // namespace

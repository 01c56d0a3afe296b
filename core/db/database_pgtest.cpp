#include "core/db/database.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "core/db/test_database.hpp"
#include "core/exec/op_table.hpp"
#include "core/module/host.hpp"

namespace ry::db {
namespace {

using namespace std::chrono_literals;

struct answer {
  ry_status status = -1;
  core::error error;
  std::vector<std::vector<std::string>> results;  // cells of each result
  bool on_exec = false;
};

bool wait_for(const std::function<bool()>& f, std::chrono::milliseconds limit = 15s) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!f()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

class database_test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test_database::available()) GTEST_SKIP() << "RY_TEST_DATABASE_URL is not set";
    base.emplace();
    config.connect.url = base->url();
    config.workers = 3;
    rt.loops = &loops;
    rt.ops = &ops;
    admin.emplace(config.connect);
    admin->open();
    admin->exec_script("create schema core; create schema shop; create table shop.t(v int primary key)");
  }
  void TearDown() override {
    if (!admin) return;
    stop();
    EXPECT_TRUE(wait_for([&] { return host->outstanding == 0; }));
    loops.stop_and_join();
  }
  void start() {
    db.emplace(config);
    rt.db = &*db;
    host.emplace(rt, "shop", 1);
    ASSERT_TRUE(db->wait_healthy(5s));
  }
  void stop() {
    if (!host) start();
    if (db) db->stop();
  }

  static void completed(void* ctx, ry_status st, ry_db_result* const* results, size_t n,
                        const ry_error_view* err) noexcept {
    auto* p = static_cast<std::promise<answer>*>(ctx);
    answer a;
    a.status = st;
    a.error = core::error::from(st, err);
    a.on_exec = ry_exec::current() != nullptr;
    for (size_t i = 0; i < n; ++i) {
      const auto* r = db_v1().result_rows(results[i]);
      std::vector<std::string> cells;
      for (size_t c = 0; c < r->n_rows * r->n_cols; ++c)
        cells.push_back(r->cells[c].ptr ? core::str(r->cells[c]) : "NULL");
      a.results.push_back(std::move(cells));
      db_v1().result_release(results[i]);
    }
    p->set_value(std::move(a));
    delete p;
  }
  static ry_db_call call_of(std::string_view sql, std::span<const ry_value> params = {}, std::uint32_t flags = 0,
                            std::uint64_t timeout_ms = 0) {
    return {sizeof(ry_db_call), flags, core::view(sql), params.data(), params.size(), timeout_ms};
  }
  std::future<answer> run(std::span<const ry_db_call> calls, ry_tx* tx = nullptr, ry_op_id* op = nullptr) {
    auto* p = new std::promise<answer>;
    auto f = p->get_future();
    const auto st = db_v1().run(&*host, tx, calls.data(), calls.size(), &loops.pick(), completed, p, op);
    if (st != RY_OK) {
      p->set_value({st, {}, {}, false});
      delete p;
    }
    return f;
  }
  std::future<answer> run(std::string_view sql, std::span<const ry_value> params = {}, ry_tx* tx = nullptr,
                          ry_op_id* op = nullptr, std::uint32_t flags = 0) {
    const auto c = call_of(sql, params, flags);
    return run({&c, 1}, tx, op);
  }
  ry_tx* begin(ry_status* status = nullptr) {
    using out = std::pair<ry_status, ry_tx*>;
    std::promise<out> p;
    auto f = p.get_future();
    const auto fn = [](void* ctx, ry_status st, ry_tx* tx, const ry_error_view*) noexcept {
      static_cast<std::promise<out>*>(ctx)->set_value({st, tx});
    };
    EXPECT_EQ(db_v1().begin(&*host, 0, &loops.pick(), fn, &p, nullptr), RY_OK);
    const auto [st, tx] = f.get();
    if (status) *status = st;
    return tx;
  }
  ry_status end(ry_tx* tx, decltype(ry_db_v1::commit) how) {
    std::promise<ry_status> p;
    auto f = p.get_future();
    const auto fn = [](void* ctx, ry_status st, const ry_error_view*) noexcept {
      static_cast<std::promise<ry_status>*>(ctx)->set_value(st);
    };
    EXPECT_EQ(how(tx, &loops.pick(), {fn, &p}), RY_OK);
    return f.get();
  }
  ry_status commit(ry_tx* tx) { return end(tx, db_v1().commit); }
  ry_status rollback(ry_tx* tx) { return end(tx, db_v1().rollback); }
  std::int64_t count() { return admin->exec("select count(*) from shop.t").int64(0, 0); }
  void terminate_others() {
    admin->exec(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()");
  }

  settings config;
  std::optional<test_database> base;
  exec::loop_pool loops{2};
  exec::op_table ops;
  module::runtime rt;
  std::optional<connection> admin;
  std::optional<ry_host> host;
  std::optional<database> db;
};

TEST_F(database_test, submitted_work_runs_and_may_throw) {
  start();
  std::promise<std::string> p;
  db->submit([](connection&) { throw std::runtime_error("on purpose"); });
  db->submit([&](connection& c) { p.set_value(std::string(c.exec("show search_path").text(0, 0))); });
  EXPECT_EQ(p.get_future().get(), "core");
}

TEST_F(database_test, opens_a_few_connections_first_and_the_others_later) {
  config.workers = 8;
  const auto others = [&] {
    return admin
        ->exec(
            "select count(*) from pg_stat_activity where datname = current_database() "
            "and pid <> pg_backend_pid() and backend_type = 'client backend'")
        .int64(0, 0);
  };
  bool few = false;
  for (int tries = 0; tries < 5 && !few; ++tries) {  // a late check finds all connections
    database one(config);
    ASSERT_TRUE(one.wait_healthy(5s));
    few = others() <= 5;
    EXPECT_TRUE(wait_for([&] { return others() >= 9; }));
    one.stop();
    EXPECT_TRUE(wait_for([&] { return others() == 0; }));
  }
  EXPECT_TRUE(few);
}

TEST_F(database_test, runs_one_statement) {
  start();
  const ry_value params[] = {value::int64(7), value::bytes(std::string_view("\0\xff", 2)), value::null()};
  auto a = run("insert into t values($1) returning v, $2, $3::text", params).get();
  EXPECT_EQ(a.status, RY_OK);
  EXPECT_TRUE(a.on_exec);
  ASSERT_EQ(a.results.size(), 1u);
  EXPECT_EQ(a.results[0], (std::vector<std::string>{"7", std::string("\0\xff", 2), "NULL"}));
  a = run("insert into t values($1)", std::span(params, 1)).get();
  EXPECT_EQ(a.status, RY_ALREADY_EXISTS);
  EXPECT_EQ(a.error.reason, "db.23505");
  EXPECT_NE(a.error.detail_json.find("t_pkey"), std::string::npos);
}

TEST_F(database_test, several_statements_are_one_transaction) {
  start();
  const ry_value one[] = {value::int64(1)};
  const ry_db_call good[] = {call_of("insert into t values($1)", one), call_of("select count(*) from t")};
  auto a = run(good).get();
  EXPECT_EQ(a.status, RY_OK);
  ASSERT_EQ(a.results.size(), 2u);
  EXPECT_EQ(a.results[1][0], "1");
  const ry_db_call bad[] = {call_of("insert into t values(2)"), call_of("insert into t values($1)", one)};
  EXPECT_EQ(run(bad).get().status, RY_ALREADY_EXISTS);
  EXPECT_EQ(count(), 1);
}

TEST_F(database_test, invalid_calls_are_rejected_with_a_reason) {
  start();
  const ry_value bad[] = {value::text(std::string_view("a\0b", 3))};
  auto a = run("select $1::text", bad).get();
  EXPECT_EQ(a.status, RY_INVALID_ARGUMENT);
  EXPECT_EQ(a.error.reason, "db.nul_byte");
  EXPECT_TRUE(a.on_exec);
  ry_value strange{};
  strange.kind = 99;
  EXPECT_EQ(run("select $1::text", {&strange, 1}).get().error.reason, "db.parameter_kind");
  EXPECT_EQ(run("selec").get().error.reason, "db.42601");
  EXPECT_EQ(run("").get().status, RY_OK);
  EXPECT_EQ(db_v1().run(&*host, nullptr, nullptr, 0, &loops.at(0), completed, nullptr, nullptr), RY_INVALID_ARGUMENT);
  EXPECT_EQ(run("select 1").get().status, RY_OK);
}

TEST_F(database_test, one_call_has_its_own_time_limit) {
  start();
  const auto c = call_of("select pg_sleep(20)", {}, 0, 100);
  const auto a = run({&c, 1}).get();
  EXPECT_EQ(a.status, RY_DEADLINE_EXCEEDED);
  EXPECT_EQ(a.error.reason, "db.57014");
}

TEST_F(database_test, running_call_is_cancelled) {
  start();
  ry_op_id op = 0;
  auto f = run("select pg_sleep(20)", {}, nullptr, &op);
  ASSERT_NE(op, 0u);
  wait_for([&] {
    return admin
               ->exec(
                   "select count(*) from pg_stat_activity where query = 'select pg_sleep(20)'"
                   " and state = 'active'")
               .int64(0, 0) > 0;
  });
  ops.cancel(op);
  EXPECT_EQ(f.get().status, RY_CANCELLED);
  ops.cancel(op);
  EXPECT_EQ(run("select 1").get().status, RY_OK);
}

TEST_F(database_test, queued_call_is_cancelled_without_waiting) {
  start();
  std::vector<std::future<answer>> busy;
  std::vector<ry_op_id> busy_ops(3);
  for (auto& op : busy_ops) busy.push_back(run("select pg_sleep(20)", {}, nullptr, &op));
  wait_for([&] {
    return admin
               ->exec(
                   "select count(*) from pg_stat_activity where query = 'select pg_sleep(20)'"
                   " and state = 'active'")
               .int64(0, 0) == 3;
  });
  ry_op_id op = 0;
  auto f = run("insert into t values(1)", {}, nullptr, &op);
  ops.cancel(op);
  ASSERT_EQ(f.wait_for(5s), std::future_status::ready);
  EXPECT_EQ(f.get().status, RY_CANCELLED);
  for (auto o : busy_ops) ops.cancel(o);
  for (auto& b : busy) EXPECT_EQ(b.get().status, RY_CANCELLED);
  EXPECT_EQ(count(), 0);
}

TEST_F(database_test, cancels_hit_only_their_own_call) {
  start();
  std::vector<std::future<answer>> kept;
  std::vector<std::future<answer>> cancelled;
  for (int i = 0; i < 200; ++i) {
    ry_op_id op = 0;
    cancelled.push_back(run("select pg_sleep(0.002)", {}, nullptr, &op));
    kept.push_back(run("select pg_sleep(0.001)"));
    ops.cancel(op);
  }
  for (auto& f : kept) EXPECT_EQ(f.get().status, RY_OK);
  for (auto& f : cancelled) {
    const auto st = f.get().status;
    EXPECT_TRUE(st == RY_OK || st == RY_CANCELLED) << st;
  }
}

TEST_F(database_test, connections_waits_and_failures_are_counted) {
  start();
  ASSERT_TRUE(wait_for([&] { return db->stats().connections == 4; }));
  const auto waits = [&] {
    std::uint64_t all = 0;
    for (const auto n : db->stats().waits) all += n;
    return all;
  };
  EXPECT_EQ(db->stats().opened, 4u);
  EXPECT_EQ(waits(), 0u);
  std::vector<std::future<answer>> busy;
  std::vector<ry_op_id> busy_ops(3);
  for (auto& op : busy_ops) busy.push_back(run("select pg_sleep(20)", {}, nullptr, &op));
  ASSERT_TRUE(wait_for([&] { return waits() == 3; }));
  EXPECT_TRUE(wait_for([&] { return db->stats().in_use == 3; }));
  auto late = run("select 1");
  EXPECT_EQ(db->stats().waiting, 1u);
  std::this_thread::sleep_for(20ms);
  for (const auto op : busy_ops) ops.cancel(op);
  for (auto& f : busy) EXPECT_EQ(f.get().status, RY_CANCELLED);
  EXPECT_EQ(late.get().status, RY_OK);
  EXPECT_EQ(waits(), 4u);
  EXPECT_GE(db->stats().wait_sum_us, 20'000u);
  EXPECT_EQ(db->stats().waiting, 0u);
  EXPECT_EQ(run("insert into t values (1), (1)").get().status, RY_ALREADY_EXISTS);
  auto now = db->stats();
  EXPECT_EQ(now.failures[RY_CANCELLED], 3u);
  EXPECT_EQ(now.failures[RY_ALREADY_EXISTS], 1u);
  EXPECT_EQ(now.lost, 0u);
  EXPECT_TRUE(wait_for([&] { return db->stats().in_use == 0; }));
  terminate_others();
  EXPECT_TRUE(wait_for([&] { return db->stats().lost == 4 && db->stats().opened == 8; }));
  EXPECT_EQ(db->stats().connections, 4u);
}

TEST_F(database_test, priority_work_does_not_wait_for_queries) {
  start();
  std::vector<std::future<answer>> busy;
  for (int i = 0; i < 30; ++i) busy.push_back(run("select pg_sleep(0.3)"));
  std::promise<void> p;
  const auto begin = std::chrono::steady_clock::now();
  db->submit(
      [&](connection& c) {
        c.exec("select 1");
        p.set_value();
      },
      priority::high);
  p.get_future().get();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 250ms);
  for (auto& f : busy) EXPECT_EQ(f.get().status, RY_OK);
}

TEST_F(database_test, transactions_span_several_calls) {
  start();
  auto* tx = begin();
  ASSERT_TRUE(tx);
  EXPECT_EQ(run("insert into t values(1)", {}, tx).get().status, RY_OK);
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(run("select count(*) from t", {}, tx).get().results[0][0], "1");
  EXPECT_EQ(commit(tx), RY_OK);
  EXPECT_EQ(count(), 1);

  tx = begin();
  EXPECT_EQ(run("insert into t values(2)", {}, tx).get().status, RY_OK);
  EXPECT_EQ(rollback(tx), RY_OK);
  EXPECT_EQ(count(), 1);

  tx = begin();
  EXPECT_EQ(run("insert into t values(1)", {}, tx).get().status, RY_ALREADY_EXISTS);
  EXPECT_EQ(run("select 1", {}, tx).get().error.reason, "db.25P02");
  EXPECT_EQ(commit(tx), RY_FAILED_PRECONDITION);
  EXPECT_EQ(commit(begin()), RY_OK);
}

TEST_F(database_test, an_abandoned_transaction_is_rolled_back) {
  config.connect.transaction_timeout = 200ms;
  start();
  auto* tx = begin();
  EXPECT_EQ(run("insert into t values(1)", {}, tx).get().status, RY_OK);
  std::this_thread::sleep_for(400ms);
  const auto a = run("select 1", {}, tx).get();
  EXPECT_EQ(a.status, RY_DEADLINE_EXCEEDED);
  EXPECT_EQ(a.error.reason, "db.transaction_timeout");
  EXPECT_EQ(commit(tx), RY_DEADLINE_EXCEEDED);
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(commit(begin()), RY_OK);
}

TEST_F(database_test, open_transactions_leave_workers_for_others) {
  config.max_transactions = 2;
  start();
  auto* a = begin();
  auto* b = begin();
  std::atomic<int> third{0};
  std::thread t([&] {
    auto* c = begin();
    ++third;
    rollback(c);
  });
  EXPECT_EQ(run("select 1").get().status, RY_OK);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(third, 0);
  EXPECT_EQ(commit(a), RY_OK);
  EXPECT_TRUE(wait_for([&] { return third == 1; }));
  t.join();
  EXPECT_EQ(commit(b), RY_OK);
}

TEST_F(database_test, a_transaction_reports_the_loss_of_its_connection) {
  start();
  auto* tx = begin();
  EXPECT_EQ(run("insert into t values(1)", {}, tx).get().status, RY_OK);
  terminate_others();
  EXPECT_EQ(run("insert into t values(2)", {}, tx).get().status, RY_UNAVAILABLE);
  EXPECT_EQ(commit(tx), RY_UNAVAILABLE);
  EXPECT_EQ(count(), 0);
}

TEST_F(database_test, terminated_backends_are_replaced) {
  start();
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(run("select 1").get().status, RY_OK);
    terminate_others();
    const auto a = run("select 2", {}, nullptr, nullptr, RY_DB_READ_ONLY).get();
    EXPECT_EQ(a.status, RY_OK) << a.error.message;
  }
  EXPECT_TRUE(wait_for([&] { return db->healthy(); }));
}

TEST_F(database_test, killed_backends_cause_no_duplicate_writes) {
  start();
  std::atomic<bool> done{false};
  std::atomic<int> ok{0}, unknown{0}, next{0};
  std::thread killer([&] {
    while (!done) {
      terminate_others();
      std::this_thread::sleep_for(15ms);
    }
  });
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int n = 0; n < 150; ++n) {
        const ry_value v[] = {value::int64(++next)};
        const auto a = run("insert into t values($1)", v).get();
        if (a.status == RY_OK) ++ok;
        if (a.status == RY_UNAVAILABLE) ++unknown;
        EXPECT_NE(a.status, RY_ALREADY_EXISTS);
      }
    });
  for (auto& c : callers) c.join();
  done = true;
  killer.join();
  EXPECT_EQ(ok + unknown, 600);
  EXPECT_GE(count(), ok);
  EXPECT_LE(count(), ok + unknown);
  EXPECT_GT(ok, 100);
}

TEST_F(database_test, serves_many_concurrent_callers) {
  start();
  std::vector<std::thread> callers;
  std::atomic<int> good{0};
  for (int i = 0; i < 16; ++i)
    callers.emplace_back([&, i] {
      for (int n = 0; n < 100; ++n) {
        const ry_value v[] = {value::int64(i * 1000 + n)};
        if (n % 10 == 9) {
          good += run("select 1/0").get().error.reason == "db.22012";
        } else {
          good += run("insert into t values($1)", v).get().status == RY_OK;
        }
      }
    });
  for (auto& c : callers) c.join();
  EXPECT_EQ(good, 1600);
  EXPECT_EQ(count(), 16 * 90);
}

TEST_F(database_test, serialization_failures_are_retried_by_the_host) {
  start();
  admin->exec("insert into shop.t values(1), (2)");
  std::vector<std::future<answer>> all;
  const ry_db_call there[] = {call_of("update t set v = v where v = 1"), call_of("select pg_sleep(0.005)"),
                              call_of("update t set v = v where v = 2")};
  const ry_db_call back[] = {call_of("update t set v = v where v = 2"), call_of("select pg_sleep(0.005)"),
                             call_of("update t set v = v where v = 1")};
  for (int i = 0; i < 4; ++i) {
    all.push_back(run(there));
    all.push_back(run(back));
  }
  for (auto& f : all) {
    const auto a = f.get();
    EXPECT_EQ(a.status, RY_OK) << a.error.reason;
  }
}

TEST_F(database_test, an_absent_server_makes_calls_fail_fast) {
  start();
  settings away = config;
  away.connect.url = "host=/nonexistent dbname=x";
  away.unavailable_grace = 300ms;
  database none(away);
  EXPECT_FALSE(none.wait_healthy(100ms));
  rt.db = &none;
  EXPECT_EQ(run("select 1").get().status, RY_UNAVAILABLE);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(run("select 1").get().error.reason, "db.unavailable");
  ry_status st = RY_OK;
  EXPECT_EQ(this->begin(&st), nullptr);
  EXPECT_EQ(st, RY_UNAVAILABLE);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_NE(none.last_error(), "");
  std::promise<bool> threw;
  none.submit([&](connection& c) {
    try {
      c.exec("select 1");
      threw.set_value(false);
    } catch (const failure& f) {
      threw.set_value(f.error.status == RY_UNAVAILABLE);
    }
  });
  EXPECT_TRUE(threw.get_future().get());
  rt.db = &*db;
}

TEST_F(database_test, stop_finishes_accepted_calls) {
  start();
  std::vector<std::future<answer>> all;
  for (int i = 0; i < 50; ++i) {
    const ry_value v[] = {value::int64(i)};
    all.push_back(run("insert into t select $1 from pg_sleep(0.002)", v));
  }
  db->stop();
  for (auto& f : all) EXPECT_EQ(f.get().status, RY_OK);
  EXPECT_EQ(count(), 50);
  EXPECT_EQ(run("select 1").get().status, RY_UNAVAILABLE);
  std::atomic<bool> ran{false};
  db->submit([&](connection& c) { ran = !c.is_open(); });
  EXPECT_TRUE(ran);
}

TEST_F(database_test, stopping_does_not_wait_for_slow_statements) {
  config.drain = 200ms;
  start();
  auto f = run("select pg_sleep(20)");
  std::this_thread::sleep_for(50ms);
  const auto begin = std::chrono::steady_clock::now();
  db->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_NE(f.get().status, RY_OK);
}

TEST_F(database_test, notifications_reach_this_process_and_others) {
  start();
  database other(config);
  std::atomic<int> here{0}, there{0}, elsewhere{0};
  const auto h = db->listen(
      "shop.news", [&] { ++here; }, 1h);
  const auto o = other.listen(
      "shop.news", [&] { ++there; }, 1h);
  other.listen(
      "shop.\"x", [&] { ++elsewhere; }, 1h);
  EXPECT_TRUE(wait_for([&] { return here > 0 && there > 0 && elsewhere > 0; }));  // after connecting
  here = there = elsewhere = 0;
  for (int i = 0; i < 200; ++i) db->notify("shop.news");
  EXPECT_TRUE(wait_for([&] { return here > 0 && there > 0; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_LT(there, 20);
  EXPECT_EQ(elsewhere, 0);
  db->notify("shop.\"x");
  EXPECT_TRUE(wait_for([&] { return elsewhere > 0; }));
  other.unlisten(o);
  db->unlisten(h);
  const int before = here;
  there = 0;
  db->notify("shop.news");
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(here, before);
  EXPECT_EQ(there, 0);
  EXPECT_THROW(db->listen(std::string(64, 'x'), [] {}), failure);
}

TEST_F(database_test, lost_notifications_are_recovered_by_polling) {
  start();
  std::atomic<int> polled{0}, after_loss{0};
  db->listen(
      "shop.a", [&] { ++polled; }, 20ms);
  db->listen(
      "shop.b", [&] { ++after_loss; }, 1h);
  EXPECT_TRUE(wait_for([&] { return polled > 5 && after_loss > 0; }));
  const int before = after_loss;
  terminate_others();
  EXPECT_TRUE(wait_for([&] { return after_loss > before; }));
  const int then = after_loss;
  admin->exec("select pg_notify('shop.b', '')");
  EXPECT_TRUE(wait_for([&] { return after_loss > then; }));
}

TEST_F(database_test, listeners_of_a_module_run_on_their_executor) {
  start();
  struct seen {
    std::atomic<int> n{0};
    ry_exec* exec;
    std::atomic<bool> elsewhere{false};
  } s;
  s.exec = &loops.at(1);
  ry_db_listen* l = nullptr;
  const auto fn = [](void* ctx) noexcept {
    auto& s = *static_cast<seen*>(ctx);
    if (!s.exec->is_current()) s.elsewhere = true;
    ++s.n;
  };
  ASSERT_EQ(db_v1().listen(&*host, core::view("shop.x"), 60'000, s.exec, fn, &s, &l), RY_OK);
  EXPECT_TRUE(wait_for([&] { return s.n > 0; }));
  const int before = s.n;
  db_v1().notify(&*host, core::view("shop.x"));
  EXPECT_TRUE(wait_for([&] { return s.n > before; }));
  std::promise<void> ended;
  s.exec->post([&] {
    db_v1().unlisten(l);
    ended.set_value();
  });
  ended.get_future().get();
  const int then = s.n;
  db_v1().notify(&*host, core::view("shop.x"));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(s.n, then);
  EXPECT_FALSE(s.elsewhere);
}

}  // namespace
}  // namespace ry::db

#include "core/db/connection.hpp"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <thread>

#include "core/db/test_database.hpp"

namespace ry::db {
namespace {

using namespace std::chrono_literals;

class connection_test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test_database::available()) GTEST_SKIP() << "RY_TEST_DATABASE_URL is not set";
    base.emplace();
    settings.url = base->url();
    conn.emplace(settings);
    conn->open();
    conn->exec_script("create schema core; create schema alpha; create schema beta");
  }
  std::string code(std::function<void()> f) {
    try {
      f();
    } catch (const failure& e) {
      return e.sqlstate.empty() ? e.error.reason : e.sqlstate;
    }
    return "no failure";
  }
  std::optional<test_database> base;
  connect_settings settings;
  std::optional<connection> conn;
};

TEST_F(connection_test, scalars_round_trip) {
  const ry_uuid id{{0x01, 0x90, 0xff, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  const std::string raw("\0\x01\xff\\'\"", 6);
  auto r = conn->exec("select $1::text, $2::bigint, $3::bool, $4, $5, $6::float8, $7::text",
                      {value::text("gr\xc3\xbc\xc3\x9f 'q' \\ $1 :x"), value::int64(INT64_MIN), value::boolean(true),
                       value::uuid(id), value::bytes(raw), value::number(0.1), value::null()});
  EXPECT_EQ(r.text(0, 0), "gr\xc3\xbc\xc3\x9f 'q' \\ $1 :x");
  EXPECT_EQ(r.int64(0, 1), INT64_MIN);
  EXPECT_TRUE(r.boolean(0, 2));
  EXPECT_EQ(r.text(0, 3), "0190ff00-0102-0304-0506-0708090a0b0c");
  EXPECT_EQ(std::memcmp(r.uuid(0, 3).bytes, id.bytes, 16), 0);
  EXPECT_EQ(r.bytes(0, 4), raw);
  EXPECT_TRUE(r.is_bytes(4));
  EXPECT_EQ(r.number(0, 5), 0.1);
  EXPECT_TRUE(r.is_null(0, 6));
  EXPECT_TRUE(r.is_null(1, 0));
  EXPECT_TRUE(r.is_null(0, 7));
  EXPECT_THROW((void)r.int64(0, 0), failure);
  EXPECT_THROW((void)r.uuid(0, 0), failure);
}

TEST_F(connection_test, hostile_text_in_arrays) {
  const std::vector<std::string> hostile = {"",      "NULL", "null",   "{}",
                                            "{a,b}", "a\"b", "a\\b",   "'; drop table x; --",
                                            " lead", "a,b",  "\n\t\r", "\xf0\x9f\x98\x80",
                                            "a[1:2]"};
  text_array a(hostile);
  auto r = conn->exec("select v, v is null from unnest($1) with ordinality u(v, n) order by n", {a.value()});
  ASSERT_EQ(r.size(), hostile.size());
  for (std::size_t i = 0; i < hostile.size(); ++i) EXPECT_EQ(r.text(i, 0), hostile[i]);

  const std::int64_t ints[] = {INT64_MIN, -1, 0, INT64_MAX};
  r = conn->exec("select string_agg(v::text, ' ' order by v) from unnest($1) v", {value::ints(ints)});
  EXPECT_EQ(r.text(0, 0), "-9223372036854775808 -1 0 9223372036854775807");
  r = conn->exec("select cardinality($1), cardinality($2), 7 = any($1)", {value::ints({}), value::texts({})});
  EXPECT_EQ(r.text(0, 0), "0");
  EXPECT_EQ(r.text(0, 1), "0");
  EXPECT_EQ(r.text(0, 2), "f");
}

TEST_F(connection_test, nul_bytes_are_refused) {
  const std::string bad("ab\0cd", 5);
  text_array a;
  a.add(bad);
  EXPECT_EQ(code([&] { conn->exec("select $1::text", {value::text(bad)}); }), "db.nul_byte");
  EXPECT_EQ(code([&] { conn->exec("select $1", {a.value()}); }), "db.nul_byte");
  EXPECT_EQ(code([&] { conn->exec(std::string("select 1\0", 9)); }), "db.nul_byte");
  EXPECT_EQ(conn->exec("select $1::text", {value::text("fine")}).text(0, 0), "fine");
}

TEST_F(connection_test, sql_is_never_rewritten) {
  EXPECT_EQ(conn->exec("select (array[1,2,3])[1:2]").text(0, 0), "{1,2}");
  EXPECT_EQ(conn->exec("select $$a :b 'c' $1$$").text(0, 0), "a :b 'c' $1");
  EXPECT_EQ(conn->exec("select E'\\n:x' /* :y $2 */ -- :z\n").text(0, 0), "\n:x");
}

TEST_F(connection_test, schema_per_call_finds_the_right_table) {
  conn->exec_script(
      "create table alpha.t(v text); create table beta.t(v text); create table core.shared(v text);"
      "insert into alpha.t values('a'); insert into beta.t values('b'); insert into core.shared "
      "values('c')");
  const char sql[] = "select v, (select v from shared) from t";
  for (int i = 0; i < 3; ++i) {
    conn->use_schema("alpha");
    EXPECT_EQ(conn->exec(sql).text(0, 0), "a");
    conn->use_schema("beta");
    EXPECT_EQ(conn->exec(sql).text(0, 0), "b");
    EXPECT_EQ(conn->exec(sql).text(0, 1), "c");
  }
  conn->use_schema("core");
  EXPECT_EQ(code([&] { conn->exec(sql); }), "42P01");
}

TEST_F(connection_test, failed_statement_does_not_lose_the_schema) {
  conn->exec_script("create table alpha.t(v int)");
  conn->use_schema("beta");
  conn->exec("select 1");
  conn->use_schema("alpha");
  EXPECT_EQ(code([&] { conn->exec("select 1/0"); }), "22012");
  EXPECT_EQ(conn->exec("select count(*) from t").text(0, 0), "0");
}

TEST_F(connection_test, several_statements_are_all_or_nothing) {
  conn->exec_script("create table core.t(v int primary key)");
  const ry_value one[] = {value::int64(1)};
  const statement good[] = {
      {"insert into t values($1)", one}, {"insert into t select 2", {}}, {"select count(*) from t", {}}};
  auto r = conn->exec_all(good);
  ASSERT_EQ(r.size(), 3u);
  EXPECT_EQ(r[0].affected(), 1u);
  EXPECT_EQ(r[2].text(0, 0), "2");
  const statement bad[] = {{"insert into t select 3", {}}, {"insert into t values($1)", one}, {"select 4", {}}};
  EXPECT_EQ(code([&] { conn->exec_all(bad); }), "23505");
  EXPECT_EQ(conn->exec("select count(*) from t").text(0, 0), "2");
}

TEST_F(connection_test, deferred_constraint_fails_at_the_commit) {
  conn->exec_script(
      "create table core.p(id int primary key);"
      "create table core.c(p int references core.p deferrable initially deferred)");
  EXPECT_EQ(code([&] { conn->exec("insert into c values(1)"); }), "23503");
  const statement both[] = {{"insert into c values(1)", {}}, {"insert into p values(1)", {}}};
  EXPECT_EQ(conn->exec_all(both).size(), 2u);
  EXPECT_EQ(code([&] {
              auto tx = conn->begin();
              conn->exec("insert into c values(7)");
              tx.commit();
            }),
            "23503");
  EXPECT_EQ(conn->exec("select count(*) from c").text(0, 0), "1");
}

TEST_F(connection_test, transactions_commit_and_roll_back) {
  conn->exec_script("create table core.t(v int)");
  {
    auto tx = conn->begin();
    conn->exec("insert into t values(1)");
    tx.commit();
  }
  {
    auto tx = conn->begin();
    conn->exec("insert into t values(2)");
  }
  {
    auto tx = conn->begin();
    conn->exec("insert into t values(3)");
    EXPECT_EQ(code([&] { conn->exec("select 1/0"); }), "22012");
    EXPECT_EQ(code([&] { conn->exec("select 1"); }), "25P02");
    EXPECT_EQ(code([&] { tx.commit(); }), "25P02");
  }
  { auto tx = conn->begin(); }
  {
    auto tx = conn->begin(RY_TX_READ_ONLY);
    EXPECT_EQ(code([&] { conn->exec("insert into t values(4)"); }), "25006");
  }
  EXPECT_EQ(conn->exec("select string_agg(v::text, ',') from t").text(0, 0), "1");
}

TEST_F(connection_test, sql_that_opens_a_transaction_is_refused) {
  EXPECT_EQ(code([&] { conn->exec("begin"); }), "db.transaction");
  conn->open();
  EXPECT_EQ(code([&] { conn->exec_script("begin; select 1"); }), "db.transaction");
  conn->open();
  EXPECT_EQ(conn->exec("select 1").text(0, 0), "1");
}

TEST_F(connection_test, copy_is_refused_and_the_connection_recovers) {
  EXPECT_EQ(code([&] { conn->exec("copy (select 1) to stdout"); }), "db.copy");
  EXPECT_FALSE(conn->check_alive());
  conn->open();
  EXPECT_EQ(conn->exec("select 1").text(0, 0), "1");
}

TEST_F(connection_test, raised_sqlstates_become_statuses) {
  conn->exec_script(
      "create function core.boom(state text, d text) returns void language plpgsql as "
      "$f$ begin raise exception using errcode = state, message = 'No such run.', detail = d; end "
      "$f$");
  const auto raised = [&](const char* state, const char* detail) {
    try {
      conn->exec("select boom($1, $2)", {value::text(state), value::text(detail)});
    } catch (const failure& f) {
      return f.error;
    }
    return core::error{RY_OK, {}, {}, {}, 0, 0};
  };
  auto e = raised("RY404", "{\"error_code\": \"RUN\"}");
  EXPECT_EQ(e.status, RY_NOT_FOUND);
  EXPECT_EQ(e.http_status, 404u);
  EXPECT_EQ(e.message, "No such run.");
  EXPECT_EQ(e.detail_json, "{\"error_code\": \"RUN\"}");
  EXPECT_EQ(e.reason, "db.RY404");
  e = raised("RY402", "not json");
  EXPECT_EQ(e.http_status, 402u);
  EXPECT_EQ(e.detail_json, "");
  e = raised("RYF01", "");
  EXPECT_EQ(e.status, RY_ABORTED);
  EXPECT_EQ(e.reason, "jobs.fence_lost");
  e = raised("23505", "");
  EXPECT_EQ(e.status, RY_ALREADY_EXISTS);
  EXPECT_EQ(e.reason, "db.23505");
}

TEST_F(connection_test, serialization_failures_are_retried) {
  conn->exec_script("create table core.t(v int); insert into core.t values(0)");
  connection other(settings);
  other.open();
  int runs = 0;
  conn->with_retry(
      [&] {
        ++runs;
        const auto v = conn->exec("select v from t").int64(0, 0);
        if (runs == 1) other.exec("update t set v = v + 10");
        conn->exec("update t set v = $1", {value::int64(v + 1)});
      },
      RY_TX_SERIALIZABLE);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(conn->exec("select v from t").text(0, 0), "11");
  int tries = 0;
  EXPECT_EQ(code([&] {
              with_retry([&] {
                ++tries;
                throw from_sqlstate("40P01", "deadlock", {}, {});
              });
            }),
            "40P01");
  EXPECT_EQ(tries, 5);
}

TEST_F(connection_test, changed_tables_do_not_break_cached_plans) {
  conn->exec_script("create table core.t(v int); insert into core.t values(1)");
  EXPECT_EQ(conn->exec("select * from t").columns(), 1u);
  connection other(settings);
  other.open();
  other.exec_script("alter table core.t add w text default 'new'");
  auto r = conn->exec("select * from t");
  EXPECT_EQ(r.columns(), 2u);
  conn->exec("deallocate all", {}, RY_DB_NO_PREPARE);
  EXPECT_EQ(conn->exec("select * from t").columns(), 2u);
}

TEST_F(connection_test, plans_are_bounded) {
  for (int i = 0; i < 700; ++i) EXPECT_EQ(conn->exec("select " + std::to_string(i)).int64(0, 0), i);
  for (int i = 0; i < 700; i += 7) EXPECT_EQ(conn->exec("select " + std::to_string(i)).int64(0, 0), i);
  EXPECT_LE(conn->exec("select count(*) from pg_prepared_statements").int64(0, 0), 257);
}

TEST_F(connection_test, timeouts_per_call) {
  conn->use_timeout(50ms);
  EXPECT_EQ(code([&] { conn->exec("select pg_sleep(5)"); }), "57014");
  conn->use_timeout({});
  EXPECT_EQ(conn->exec("show statement_timeout").text(0, 0), "30s");
}

TEST_F(connection_test, plans_are_not_jit_compiled) {
  EXPECT_EQ(conn->exec("show jit").text(0, 0), "off");
}

TEST_F(connection_test, statements_of_a_terminated_backend_are_retried_only_when_safe) {
  connection other(settings);
  other.open();
  const auto kill = [&] {
    other.exec("select pg_terminate_backend($1::int, 5000)", {value::int64(conn->backend_pid())});
  };
  kill();
  EXPECT_FALSE(conn->check_alive());
  conn->open();
  // The loss becomes visible only when the statement is sent: before that, the server announced the end of the
  // session.
  conn->exec_script("create table core.t(v int)");
  kill();
  std::string outcome = code([&] { conn->exec("insert into t values(1)"); });
  if (outcome != "no failure") {
    EXPECT_EQ(outcome, "db.unavailable");
    conn->open();
  }
  EXPECT_EQ(conn->exec("select count(*) from t").int64(0, 0), outcome == "no failure" ? 1 : 0);
  kill();
  EXPECT_EQ(conn->exec("select 7", {}, RY_DB_READ_ONLY).text(0, 0), "7");
}

TEST_F(connection_test, cancel_from_another_thread) {
  std::thread t([&] {
    std::this_thread::sleep_for(200ms);
    conn->cancel_if(nullptr);
  });
  const auto begin = std::chrono::steady_clock::now();
  const call c("core", "select pg_sleep(10)", {});
  connection::unit u, *one = &u;
  u.calls = {&c, 1};
  conn->run({&one, 1});
  t.join();
  ASSERT_TRUE(u.error);
  EXPECT_EQ(u.error->sqlstate, "57014");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_EQ(conn->exec("select 1").text(0, 0), "1");
}

TEST_F(connection_test, large_pipelines_do_not_deadlock) {
  const std::string big(200'000, 'x');
  const ry_value p[] = {value::text(big)};
  std::vector<statement> many(60, statement{"select $1::text || 'y'", p});
  auto r = conn->exec_all(many);
  ASSERT_EQ(r.size(), 60u);
  EXPECT_EQ(r[59].text(0, 0).size(), 200'001u);
}

TEST_F(connection_test, scripts_run_as_one_transaction) {
  EXPECT_EQ(code([&] { conn->exec_script("create table core.a(v int); select 1/0; create table core.b(v int)"); }),
            "22012");
  EXPECT_TRUE(conn->exec("select to_regclass('core.a')").is_null(0, 0));
  conn->exec_script("do $$ begin perform ':x'; end $$; create table core.a(v int)");
  EXPECT_FALSE(conn->exec("select to_regclass('core.a')").is_null(0, 0));
}

TEST_F(connection_test, behind_a_pooler_nothing_is_left_in_the_session) {
  connect_settings s = settings;
  s.at = endpoint::transaction_pooler;
  connection c(s);
  c.open();
  // Queries the session without `exec`, to see the state that another transaction would find.
  const auto left = [&] {
    PQexitPipelineMode(c.native());
    PGresult* r = PQexec(c.native(),
                         "select current_setting('search_path'), current_setting('statement_timeout'),"
                         " current_setting('idle_in_transaction_session_timeout'),"
                         " (select count(*) from pg_prepared_statements)");
    std::string out;
    for (int i = 0; i < 4; ++i) out += std::string(PQgetvalue(r, 0, i)) + "|";
    PQclear(r);
    PQenterPipelineMode(c.native());
    return out;
  };
  const auto fresh = left();
  EXPECT_EQ(fresh, "\"$user\", public|0|0|0|");

  c.use_schema("alpha");
  c.use_timeout(1500ms);
  auto r = c.exec(
      "select current_setting('search_path'), current_setting('statement_timeout'),"
      " current_setting('idle_in_transaction_session_timeout'), current_setting('timezone'), $1::text,"
      " current_setting('jit')",
      {value::text("x")});
  EXPECT_EQ(r.text(0, 0), "\"alpha\", core");
  EXPECT_EQ(r.text(0, 1), "1500ms");
  EXPECT_EQ(r.text(0, 2), "15s");
  EXPECT_EQ(r.text(0, 3), "UTC");
  EXPECT_EQ(r.text(0, 5), "off");
  EXPECT_EQ(left(), fresh);

  EXPECT_EQ(code([&] { c.exec("select pg_sleep(10)"); }), "57014");
  EXPECT_EQ(left(), fresh);

  {
    auto tx = c.begin();
    c.exec("create table t (v int)");
    c.exec_script("insert into t values (1); insert into t values (2)");
    c.use_schema("beta");
    EXPECT_EQ(c.exec("show search_path").text(0, 0), "\"beta\", core");
    c.use_schema("alpha");
    EXPECT_EQ(c.exec("select sum(v) from t").text(0, 0), "3");
    tx.commit();
  }
  EXPECT_EQ(left(), fresh);
  {
    auto tx = c.begin();
    EXPECT_EQ(code([&] { c.exec("select 1/0"); }), "22012");
    EXPECT_EQ(code([&] { tx.commit(); }), "25P02");
  }
  EXPECT_TRUE(c.is_open());
  EXPECT_EQ(left(), fresh);
  c.exec_script("create table later (v int)");
  EXPECT_EQ(c.exec("select to_regclass('alpha.later')::text").text(0, 0), "later");
  EXPECT_EQ(left(), fresh);
}

TEST(conninfo, sends_no_session_settings_to_a_pooler) {
  connect_settings s;
  s.at = endpoint::transaction_pooler;
  s.url = "postgresql://me@db.example/x";
  EXPECT_EQ(conninfo(s).find("options"), std::string::npos);
  s.url += "?options=-c%20work_mem%3D8MB";  // set by the operator
  EXPECT_NE(conninfo(s).find("options='-c work_mem=8MB '"), std::string::npos);
}

TEST(conninfo, requires_a_writable_server_among_several_hosts) {
  connect_settings s;
  s.url = "postgresql://me@a.example:1,b.example:2/x";
  EXPECT_NE(conninfo(s).find("target_session_attrs='read-write'"), std::string::npos);
  s.url += "?target_session_attrs=primary";
  EXPECT_NE(conninfo(s).find("target_session_attrs='primary'"), std::string::npos);
  EXPECT_EQ(conninfo(s).find("read-write"), std::string::npos);
}

TEST(conninfo, a_severed_server_is_tried_last) {
  const auto order = [](const std::string& url, const server_name& left) {
    connect_settings s;
    s.url = url;
    const auto info = tried_last(conninfo(s), left);
    std::string out;
    for (const auto* key : {"host='", "hostaddr='", "port='"})
      if (const auto at = info.find(key); at != std::string::npos)
        out += info.substr(at, info.find('\'', at + std::string_view(key).size()) - at) + " ";
    return out;
  };
  const std::string three = "postgresql://me@a:1,b:2,c:3/x";
  EXPECT_EQ("host='b,c,a port='2,3,1 ", order(three, {"a", "192.0.2.1", "1"}));
  EXPECT_EQ("host='a,c,b port='1,3,2 ", order(three, {"b", "", "2"}));
  EXPECT_EQ("host='a,b,c port='1,2,3 ", order(three, {"c", "", "3"}));
  EXPECT_EQ("host='a,b,c port='1,2,3 ", order(three, {"b", "", "9"})) << "not one of the hosts";
  EXPECT_EQ("host='b,a port='5,5 ", order("host=a,b port=5", {"a", "", "5"}));
  EXPECT_EQ("host='b,a ", order("host=a,b", {"a", "", "5432"}));
  EXPECT_EQ("host='b,a hostaddr='192.0.2.2,192.0.2.1 ",
            order("host=a,b hostaddr=192.0.2.1,192.0.2.2", {"a", "192.0.2.1", "5432"}));
  EXPECT_EQ("hostaddr='192.0.2.2,192.0.2.1 ",
            order("hostaddr=192.0.2.1,192.0.2.2", {"192.0.2.1", "192.0.2.1", "5432"}));
  EXPECT_EQ("host='a port='1 ", order("postgresql://me@a:1/x", {"a", "", "1"}));
}

TEST(conninfo, adds_settings_and_hides_the_url_in_errors) {
  connect_settings s;
  s.url = "postgresql://me:se'cret@db.example/x?connect_timeout=9&options=-c%20work_mem%3D8MB";
  const auto info = conninfo(s);
  EXPECT_NE(info.find("password='se\\'cret'"), std::string::npos);
  EXPECT_NE(info.find("connect_timeout='9'"), std::string::npos);
  EXPECT_NE(info.find("work_mem=8MB"), std::string::npos);
  EXPECT_NE(info.find("statement_timeout=30000"), std::string::npos);
  EXPECT_NE(info.find("target_session_attrs='read-write'"), std::string::npos)
      << "the address may lead to another server after a failover";
  const auto later = conninfo(s, session_settings::later);
  EXPECT_NE(later.find("work_mem=8MB"), std::string::npos) << "the operator's setting is kept";
  EXPECT_EQ(later.find("statement_timeout"), std::string::npos);
  s.url = "nonsense password secret";
  try {
    conninfo(s);
    FAIL();
  } catch (const failure& f) {
    EXPECT_EQ(std::string(f.what()).find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace ry::db

// A separate database for one test, with the schemas that its module's SQL needs. Skips the test if RY_TEST_DATABASE_URL
// is not set.
#pragma once

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace testing_sql {

struct sql_error : std::runtime_error {
  sql_error(std::string state, const std::string& what) : std::runtime_error(what), state(std::move(state)) {}
  std::string state;
};

class connection {
 public:
  explicit connection(const std::string& url) : conn_(PQconnectdb(url.c_str()), PQfinish) {
    if (PQstatus(conn_.get()) != CONNECTION_OK) throw sql_error("08000", PQerrorMessage(conn_.get()));
    PQsetNoticeProcessor(
        conn_.get(), [](void*, const char*) {}, nullptr);
  }

  // Returns the first cell of the first row; empty if there is no row. Throws sql_error.
  std::string operator()(const std::string& sql) const {
    const std::unique_ptr<PGresult, decltype(&PQclear)> r(PQexec(conn_.get(), sql.c_str()), PQclear);
    const auto st = PQresultStatus(r.get());
    if (st != PGRES_TUPLES_OK && st != PGRES_COMMAND_OK) {
      const char* state = PQresultErrorField(r.get(), PG_DIAG_SQLSTATE);
      throw sql_error(state ? state : "", PQresultErrorMessage(r.get()));
    }
    if (PQntuples(r.get()) == 0 || PQnfields(r.get()) == 0) return {};
    return PQgetvalue(r.get(), 0, 0);
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> conn_;
};

class database_test : public testing::Test {
 protected:
  void SetUp() override {
    const char* url = std::getenv("RY_TEST_DATABASE_URL");
    if (!url || !*url) GTEST_SKIP() << "RY_TEST_DATABASE_URL is not set";
    server_ = url;
    static std::atomic<int> counter{0};
    name_ = "ry_module_test_" + std::to_string(getpid()) + "_" + std::to_string(++counter);
    connection admin(server_);
    admin("create database " + name_);
    db_ = std::make_unique<connection>(test_url());
    // The part of the host's schema that modules use, reduced to what the tests inspect.
    (*db_)(
        "create schema core;"
        "create table core.event (id bigserial primary key, kind text, key text, payload jsonb);"
        "create function core.event_publish(p_kind text, p_key text, p_payload jsonb) returns "
        "bigint"
        "  language sql as $$ insert into core.event (kind, key, payload)"
        "  values (p_kind, p_key, p_payload) returning id $$;"
        "create function core.events_publish(p_kinds text[], p_keys text[], p_payloads jsonb[]) returns boolean"
        "  language sql as $$ insert into core.event (kind, key, payload)"
        "  select * from unnest(p_kinds, p_keys, p_payloads);"
        "  select false $$");
  }
  void TearDown() override {
    db_.reset();
    if (name_.empty()) return;
    const connection admin(server_);
    admin("drop database " + name_ + " with (force)");
  }

  // Runs a module's migrations in the same way as the host: in a schema of its name.
  template <class Files>
  void migrate(const std::string& module, const Files& files) {
    sql("create schema " + module);
    sql("set search_path = " + module + ", core");
    for (const auto& f : files) sql(std::string(f.sql));
    sql("reset search_path");
  }
  // The host's tables and functions for jobs and partitions; events are replaced by SetUp().
  void migrate_jobs() {
    const std::filesystem::path folder = std::filesystem::path(RY_SOURCE_DIR) / "core/schema/migrations";
    sql("set search_path = core");
    for (const char* file : {"0001_jobs.sql", "0004_partitions.sql"}) sql(text_of(folder / file));
    for (const auto& text : functions_in(folder)) sql(text);
    sql("reset search_path");
  }
  // Creates another module's schema from its sources.
  void migrate_module(const std::string& module) {
    const std::filesystem::path folder = std::filesystem::path(RY_SOURCE_DIR) / "modules" / module / "migrations";
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".sql") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    sql("create schema " + module);
    sql("set search_path = " + module + ", core");
    for (const auto& file : files) sql(text_of(file));
    for (const auto& text : functions_in(folder)) sql(text);
    sql("reset search_path");
  }
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
  std::string sql(const std::string& text) const { return (*db_)(text); }
  // Returns the SQLSTATE if the statement fails, otherwise an empty text.
  std::string state_of(const std::string& text) const {
    try {
      sql(text);
    } catch (const sql_error& e) {
      return e.state;
    }
    return {};
  }
  connection connect() const { return connection(test_url()); }

 private:
  // Returns the repeatable migrations of a directory, in the order of the numbers in their first lines.
  static std::vector<std::string> functions_in(const std::filesystem::path& folder) {
    std::vector<std::string> texts;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "functions", none))
      texts.push_back(text_of(entry.path()));
    std::sort(texts.begin(), texts.end());
    return texts;
  }
  // Returns the server's URL with the name of the test's database.
  std::string test_url() const {
    auto url = server_;
    const auto query = url.find('?');
    const std::string options = query == url.npos ? "" : url.substr(query);
    url = url.substr(0, query);
    const auto path = url.find('/', url.find("://") + 3);
    return (path == url.npos ? url : url.substr(0, path)) + "/" + name_ + options;
  }

  std::string server_, name_;
  std::unique_ptr<connection> db_;
};

}  // namespace testing_sql

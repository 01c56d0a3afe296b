// For tests: a new database on the server of RY_TEST_DATABASE_URL, dropped on destruction.
#pragma once

#include <libpq-fe.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "core/db/connection.hpp"

namespace ry::db {

class test_database {
 public:
  // False if RY_TEST_DATABASE_URL is not set: skip the test with GTEST_SKIP.
  static bool available() { return std::getenv("RY_TEST_DATABASE_URL") != nullptr; }

  test_database() : server_(std::getenv("RY_TEST_DATABASE_URL")) {
    static std::atomic<int> count{0};
    name_ = "ry_test_" + std::to_string(::getpid()) + "_" +
            std::to_string(std::chrono::system_clock::now().time_since_epoch().count() % 1'000'000'000) + "_" +
            std::to_string(++count);
    admin("create database " + name_);
  }
  ~test_database() {
    try {
      admin("drop database if exists " + name_ + " with (force)");
    } catch (const std::exception&) {
      // The server may have been stopped by the test.
    }
  }
  test_database(const test_database&) = delete;
  test_database& operator=(const test_database&) = delete;

  // key=value text.
  std::string url() const {
    std::string out;
    auto* given = PQconninfoParse(server_.c_str(), nullptr);
    if (!given) throw std::runtime_error("RY_TEST_DATABASE_URL cannot be read");
    for (auto* o = given; o->keyword; ++o)
      if (o->val && std::string_view(o->keyword) != "dbname") out += std::string(o->keyword) + "='" + o->val + "' ";
    PQconninfoFree(given);
    return out + "dbname='" + name_ + "'";
  }
  const std::string& name() const { return name_; }

  // Runs one statement as the server's owner, outside of a transaction.
  void admin(const std::string& sql) const {
    PGconn* c = PQconnectdb(server_.c_str());
    PGresult* r = PQexec(c, sql.c_str());
    const auto st = PQresultStatus(r);
    const std::string message = PQerrorMessage(c);
    PQclear(r);
    PQfinish(c);
    if (st != PGRES_COMMAND_OK && st != PGRES_TUPLES_OK) throw std::runtime_error(message);
  }

 private:
  std::string server_, name_;
};

}  // namespace ry::db

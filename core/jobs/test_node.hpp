// For tests: a database of their own with the host's schema, and nodes of a queue on it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/db/connection.hpp"
#include "core/db/database.hpp"
#include "core/exec/loop.hpp"
#include "core/exec/op_table.hpp"
#include "core/jobs/migrations.hpp"
#include "core/jobs/queue.hpp"

namespace ry::jobs::test {

inline bool wait_for(const std::function<bool()>& done,
                     std::chrono::milliseconds limit = std::chrono::seconds(20)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

inline std::string new_uuid() {
  static std::atomic<int> n{0};
  char text[40];
  std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%012d", ++n);
  return text;
}

// A fresh database with schema core; dropped at the end.
class database {
 public:
  database() {
    const char* url = std::getenv("RY_TEST_DATABASE_URL");
    if (!url) throw std::runtime_error("RY_TEST_DATABASE_URL is not set");
    base_ = url;
    static std::atomic<int> n{0};
    name_ = "ry_jobs_" + std::to_string(::getpid()) + "_" + std::to_string(++n);
    admin_ = std::make_unique<db::connection>(db::connect_settings{base_});
    admin_->open();
    admin_->exec_script("create database " + name_);
    url_ = base_;
    const auto path = url_.find("/postgres?");
    url_.replace(path, 10, "/" + name_ + "?");
    conn_ = std::make_unique<db::connection>(db::connect_settings{url_});
    conn_->open();
    std::string script = "create schema core; set search_path = core;";
    for (const auto& m : core_migrations()) script += m.up_sql;
    conn_->exec_script(script);
  }
  ~database() {
    conn_.reset();
    try {
      admin_->exec_script("drop database " + name_ + " with (force)");
    } catch (const db::failure&) {
    }
  }
  void sql(const std::string& text) { conn_->exec_script(text); }
  std::int64_t number(const std::string& text) {
    auto r = conn_->exec(text);
    return r.empty() ? 0 : r.int64(0, 0);
  }
  std::string text(const std::string& text) {
    auto r = conn_->exec(text);
    return r.empty() ? std::string() : std::string(r.text(0, 0));
  }
  std::string sqlstate(const std::string& text) {
    try {
      conn_->exec(text);
      return {};
    } catch (const db::failure& f) {
      return f.sqlstate;
    }
  }
  const std::string& url() const { return url_; }

 private:
  std::string base_, name_, url_;
  std::unique_ptr<db::connection> admin_, conn_;
};

struct node {
  explicit node(database& d, std::string previous = {})
      : loops(2), db(db_settings(d)), rt(make_runtime()),
        queue(rt, {new_uuid(), std::move(previous), std::chrono::milliseconds(1500),
                   std::chrono::milliseconds(300), std::chrono::milliseconds(200), 100}) {
    rt.jobs = &queue;
  }
  ~node() {
    if (!gone) queue.stop(std::chrono::steady_clock::now() + std::chrono::milliseconds(200));
    db.stop();
    loops.stop_and_join();
  }
  void start() { queue.start(); }
  // As if the process had been killed: no more beats, nothing given back.
  void vanish() {
    gone = true;
    loops.stop_and_join();
    db.stop();
  }

  static db::settings db_settings(database& d) {
    db::settings s;
    s.connect.url = d.url();
    s.workers = 2;
    return s;
  }
  module::runtime make_runtime() {
    module::runtime r;
    r.loops = &loops;
    r.ops = &ops;
    r.db = &db;
    return r;
  }

  exec::loop_pool loops;
  exec::op_table ops;
  db::database db;
  module::runtime rt;
  jobs::queue queue;
  bool gone = false;
};

}  // namespace ry::jobs::test

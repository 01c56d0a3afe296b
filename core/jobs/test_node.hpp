// Test fixtures: a fresh database with the host's schema, and queue nodes that use it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/db/connection.hpp"
#include "core/db/database.hpp"
#include "core/db/test_database.hpp"
#include "core/exec/loop.hpp"
#include "core/exec/op_table.hpp"
#include "core/jobs/queue.hpp"
#include "core/schema/core_migrations.hpp"

namespace ry::jobs::test {

inline bool wait_for(const std::function<bool()>& done, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
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

// A fresh database with schema core; dropped on destruction.
class database {
 public:
  database() {
    conn_ = std::make_unique<db::connection>(db::connect_settings{base_.url()});
    conn_->open();
    std::string script = "create schema core; set search_path = core;";
    for (const auto& m : schema::core_migrations()) script += m.up_sql;
    conn_->exec_script(script);
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
  std::string url() const { return base_.url(); }

 private:
  db::test_database base_;
  std::unique_ptr<db::connection> conn_;
};

struct node {
  explicit node(database& d, std::string previous = {}, int weight = 100,
                std::chrono::milliseconds lease = std::chrono::milliseconds(1500),
                std::chrono::milliseconds hold = std::chrono::milliseconds(60'000))
      : loops(2),
        db(db_settings(d)),
        rt(make_runtime()),
        queue(rt, {new_uuid(), std::move(previous), lease, hold, std::chrono::milliseconds(300),
                   std::chrono::milliseconds(200), 100, std::chrono::milliseconds(10'000), weight, "test"}) {
    rt.jobs = &queue;
  }
  ~node() {
    if (!gone) queue.stop(std::chrono::steady_clock::now() + std::chrono::milliseconds(200));
    db.stop();
    loops.stop_and_join();
  }
  void start() { queue.start(); }
  // Simulates a killed process: no more heartbeats, no leases released.
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

inline module::job_kind kind(std::string name) {
  module::job_kind k;
  k.kind = std::move(name);
  k.queue = "default";
  k.backoff_ms = 20;
  return k;
}

// A job that runs until it is cancelled.
struct ends_when_cancelled {
  std::atomic<int> why{0};
  std::atomic<ry_job*> job{nullptr};

  ry_status operator()(const ry_job_view*, ry_job* j) {
    job = j;
    j->q.on_cancel(
        j,
        [](void* ctx, std::int32_t reason) noexcept {
          auto& self = *static_cast<ends_when_cancelled*>(ctx);
          self.why = reason;
          self.job.load()->q.finish(self.job, RY_JOB_DONE, 0, nullptr);
        },
        this);
    return RY_OK;
  }
};

}  // namespace ry::jobs::test

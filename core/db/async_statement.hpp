// An asynchronous statement or batch of a module: one run() of ry.db/1, from the queue through a worker to the
// completion on the module's executor. Internal to core/db.
#pragma once

#include <ry/if/db.h>

#include <atomic>
#include <vector>

#include "core/db/pool.hpp"
#include "core/module/host.hpp"
#include "core/observe/open_span.hpp"
#include "core/observe/trace.hpp"

namespace ry::db {

class async_statement final : public task {
 public:
  async_statement(pool& p, const ry_host* host, ry_exec* exec, ry_db_fn fn, void* ctx);

  void set_calls(std::vector<call> calls);
  // Registers a cancel function and returns its id in *op; op may be nullptr.
  void offer_cancel(ry_op_id* op);
  // The call was not queued: its completion will not run.
  void drop() noexcept;
  // Completes with this failure; only while no worker has the task.
  void fail(failure f);

  void run(connection& c) noexcept override;  // inside a transaction
  connection::unit* unit() noexcept override { return &unit_; }
  bool begin() noexcept override;
  void done() noexcept override;

  bool failed() const noexcept { return unit_.error.has_value(); }
  bool lost() const noexcept { return failed() && unit_.error->connection_lost; }

 private:
  void begin_span();
  void complete() noexcept;

  pool& pool_;
  module::hold keep_;
  ry_exec* const exec_;
  const ry_db_fn fn_;
  void* const ctx_;
  ry_op_id op_ = 0;
  const observe::trace_ref trace_ = observe::current_trace();
  observe::open_span span_;
  std::vector<call> calls_;
  connection::unit unit_;
  steady::time_point deadline_{};
  std::atomic<bool> cancelled_{false};
};

// Cancels a task: removes it from the queue and completes it, or cancels its running statement. Called under the
// operation table's lock, so it only enqueues a task for a worker.
void cancel_later(pool& p, std::weak_ptr<task> what);

}  // namespace ry::db

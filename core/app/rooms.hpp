// Everything behind the ABI tables, put together: which room knows which other one, and in which
// order they live. Nothing here listens, runs jobs or touches a database yet.
#pragma once

#include <optional>

#include "core/app/bearer.hpp"
#include "core/app/config/config.hpp"
#include "core/app/exit_code.hpp"
#include "core/app/instance.hpp"
#include "core/app/loading.hpp"
#include "core/app/span_exporter.hpp"
#include "core/auth/authenticator.hpp"
#include "core/auth/secret_box.hpp"
#include "core/db/database.hpp"
#include "core/events/hub.hpp"
#include "core/exec/blocking_pool.hpp"
#include "core/exec/loop.hpp"
#include "core/exec/op_table.hpp"
#include "core/http/client/client.hpp"
#include "core/http/server.hpp"
#include "core/jobs/queue.hpp"
#include "core/limits/rate_limiter.hpp"
#include "core/module/host.hpp"
#include "core/module/module_set.hpp"
#include "core/module/registry.hpp"
#include "core/observe/metrics.hpp"
#include "core/observe/tracer.hpp"
#include "core/process/supervisor.hpp"

namespace ry::app {

// Loops, interfaces and modules: enough to create and validate modules, without anything outside
// the process. What is absent answers RY_UNAVAILABLE.
//
// Threads: the main thread. The configuration outlives it.
class workshop {
 public:
  workshop(config::config& c, std::size_t loops);
  ~workshop();
  workshop(const workshop&) = delete;
  workshop& operator=(const workshop&) = delete;

  // Finds, loads, creates and validates. What is wrong goes to the configuration's faults and to
  // standard error or the log; true: all is well.
  bool prepare(report_target target = report_target::standard_error);

  module::registry registry;
  observe::metrics metrics;
  observe::tracer tracer;
  exec::loop_pool loops;
  exec::op_table ops;
  module::runtime rt;
  module::module_set modules;

 private:
  config::config& config_;
};

// How a command that made a workshop returns: where code of a module that would not end may still run, nothing it can
// reach may be taken apart, so the process ends here; else the code is given back.
exit_code leave(const workshop& w, exit_code code);

// What a serving host has besides; the members are made in this order. Destroyed after the modules
// ended and before the workshop.
struct rooms {
  // Throws std::runtime_error with a sentence. Adds to the configuration's faults.
  rooms(workshop& w, config::config& c, const instance& place);
  ~rooms();

  exec::blocking_pool blocking;
  http::client egress;
  auth::authenticator auth;
  auth::secret_box secrets;
  bearer callers;
  process::supervisor processes;
  jobs::queue jobs;
  events::hub events;
  limits::rate_limiter limiter;
  http::server server;
  span_exporter traces;

 private:
  workshop& workshop_;
};

}  // namespace ry::app

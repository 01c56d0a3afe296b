// The host and its services behind the ABI tables: their dependencies and their lifetimes. Creating them neither
// listens, runs jobs nor accesses a database.
#pragma once

#include <optional>

#include "core/app/bearer.hpp"
#include "core/app/config/config.hpp"
#include "core/app/config/exit_code.hpp"
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

// The loops, interfaces and modules: enough to create and validate modules without any external resource. Services
// that do not exist answer RY_UNAVAILABLE.
//
// Threads: the main thread. The configuration must outlive it.
class workshop {
 public:
  workshop(config::config& c, std::size_t loops);
  ~workshop();
  workshop(const workshop&) = delete;
  workshop& operator=(const workshop&) = delete;

  // Finds, loads, creates and validates the modules. Problems go to the configuration's faults and to standard error
  // or the log. Returns true if there are none.
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

// How a command that created a workshop returns. If a module's code may still be running, the objects it uses must
// not be destroyed, so the process exits here; otherwise the code is returned.
exit_code leave(const workshop& w, exit_code code);

// The additional services of a serving host, created in the order of the members. Destroyed after the modules have
// ended and before the workshop.
struct rooms {
  // Throws std::runtime_error with a sentence. Faults are added to the configuration.
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

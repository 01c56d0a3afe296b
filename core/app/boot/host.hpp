// The host and its services behind the ABI tables: their dependencies and their lifetimes. Creating them neither
// listens, runs jobs nor accesses a database.
#pragma once

#include <optional>

#include "core/app/boot/data_dir_lock.hpp"
#include "core/app/boot/http_auth.hpp"
#include "core/app/boot/loading.hpp"
#include "core/app/boot/span_exporter.hpp"
#include "core/app/config/config.hpp"
#include "core/app/config/exit_code.hpp"
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

// Event loops of commands that load modules but serve no clients.
inline constexpr std::size_t loops_of_a_command = 1;

// The loops, interfaces and modules: enough to create and validate modules without any external resource. Services
// that do not exist answer RY_UNAVAILABLE.
//
// Threads: the main thread. The configuration must outlive it.
class module_host {
 public:
  module_host(config::config& c, std::size_t loops);
  ~module_host();
  module_host(const module_host&) = delete;
  module_host& operator=(const module_host&) = delete;

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

// How a command that created a module_host returns. If a module's code may still be running, the objects it uses must
// not be destroyed, so the process exits here; otherwise the code is returned.
exit_code leave(const module_host& w, exit_code code);

// The additional services of a serving host, created in the order of the members. Destroyed after the modules have
// ended and before the module_host.
struct host_services {
  // Throws std::runtime_error with a message for the operator. Faults are added to the configuration.
  host_services(module_host& w, config::config& c, const data_dir_lock& dir_lock);
  // Shuts down if shutdown() was not called.
  ~host_services();

  // Ends what has started, in reverse order: requests, streams and jobs, which have until `deadline`; the modules,
  // which have at least five seconds more to write their final state; events, traces, outgoing requests, processes and
  // the database connections. Blocks. Main thread; a second call has no effect.
  void shutdown(std::chrono::steady_clock::time_point deadline);

  exec::blocking_pool blocking;
  http::client egress;
  auth::authenticator auth;
  auth::secret_box secrets;
  http_auth callers;
  process::supervisor processes;
  jobs::queue jobs;
  events::hub events;
  limits::rate_limiter limiter;
  http::server server;
  span_exporter traces;

 private:
  // Streams and requests end while jobs are released, both within one deadline. While draining, new requests get a 503
  // instead of a refused connection.
  void drain(std::chrono::steady_clock::time_point deadline);

  module_host& host_;
  bool is_shut_down_ = false;
};

}  // namespace ry::app

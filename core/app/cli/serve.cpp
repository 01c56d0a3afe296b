#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "core/app/admin/job_routes.hpp"
#include "core/app/admin/module_operations.hpp"
#include "core/app/admin/node_routes.hpp"
#include "core/app/admin/probes.hpp"
#include "core/app/boot/api_document.hpp"
#include "core/app/boot/config_reload.hpp"
#include "core/app/boot/data_dir_lock.hpp"
#include "core/app/boot/deployment_check.hpp"
#include "core/app/boot/descriptors.hpp"
#include "core/app/boot/host.hpp"
#include "core/app/boot/init_process.hpp"
#include "core/app/boot/interface_check.hpp"
#include "core/app/boot/loading.hpp"
#include "core/app/boot/migration_progress.hpp"
#include "core/app/boot/paths.hpp"
#include "core/app/boot/postgres_start.hpp"
#include "core/app/boot/schema_update.hpp"
#include "core/app/boot/service_manager.hpp"
#include "core/app/boot/settings.hpp"
#include "core/app/boot/signals.hpp"
#include "core/app/boot/start_guard.hpp"
#include "core/app/cli/commands.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace {

using observe::level;
using steady = std::chrono::steady_clock;

exit_code fail(const std::string& why) {
  std::fprintf(stderr, "runyard: the server cannot start: %s\n", why.c_str());
  return exit_code::failed;
}

void log_interface_faults(const db::connect_settings& connect, const module::module_set& modules) {
  try {
    for (const auto& f : check_sql_interfaces(connect, modules.provided()))
      observe::log(level::warn, "host", "a module lacks SQL functions of its service",
                   {{"module", f.module}, {"error", f.message}});
  } catch (const db::failure& e) {
    observe::log(level::warn, "host", "cannot check the SQL functions of services", {{"error", e.what()}});
  }
}

// Applies the migrations of host and modules. A failure in one module affects only that module.
module::report migrate_all(module_host& w, db::migrator& migrator, const db::connect_settings& connect,
                           const config::config& c, const signals& stop, const service_manager& manager,
                           bool& unconfirmed) {
  migration_progress progress([&](const std::string& activity) { manager.extend_start_timeout(activity); });
  const auto report = update_schema(
      migrator, all_migrations(w.modules), c.duration("database.wait_seconds"), [&] { return stop.requested(); },
      progress);
  unconfirmed = report.unconfirmed;
  if (!report.applied.empty()) log_interface_faults(connect, w.modules);
  module::report out;
  for (const auto& p : report.problems) {
    if (p.module == "core") {
      out.problems.push_back({p.module, p.message, true});
      continue;
    }
    for (auto& each : w.modules.fail(p.module, p.message).problems) out.problems.push_back(std::move(each));
  }
  return out;
}

// The listening socket: inherited from the service manager, or opened as configured.
http::listener open_listener(service_manager& manager, const http::settings& web) {
  auto given = manager.take_listener();
  if (!given) return {web.address, web.port};
  observe::log(level::info, "host", "serving on a socket of the service manager", {{"address", given->name()}});
  if (given->port() != web.port || given->address() != web.address)
    observe::log(level::warn, "host",
                 "http.listen differs from the address of the systemd socket; commands on this machine use http.listen",
                 {{"http.listen", web.address + ":" + std::to_string(web.port)}});
  return *std::move(given);
}

}  // namespace

exit_code serve(const config_options& options) {
  if (const auto ended = run_below_init()) return static_cast<exit_code>(*ended);
  const auto begun = steady::now();
  service_manager manager;
  signals stop;

  // configuration, log
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  if (const auto why = open_log(c); !why.empty()) return fail(why);
  if (options.file.empty() && default_config_file().empty())
    observe::log(level::warn, "host", "no configuration file found; using defaults, the environment and --set",
                 {{"looked_for", default_config_places}});

  // data directory and port, both exclusive to this server, before anything is started
  const data_dir_lock dir_lock(c.text("data_dir"));
  raise_descriptor_limit();
  const auto web = http_settings(c);
  if (const auto wanted = static_cast<std::size_t>(c.integer("http.max_connections")); web.max_connections < wanted)
    observe::log(
        level::warn, "host",
        "the limit on open files allows fewer connections than http.max_connections; raise LimitNOFILE= of the "
        "service or `ulimit -Hn`",
        {{"http.max_connections", std::to_string(wanted)},
         {"connections", std::to_string(web.max_connections)},
         {"open_files", std::to_string(descriptor_limit())}});
  auto listener = open_listener(manager, web);
  const listen_address where{listener.address(), listener.port()};

  // PostgreSQL starts while the modules are loaded
  manager.starting("starting the database and the modules");
  postgres_start postgres(c, dir_lock);
  start_guard starts(dir_lock.data_dir());
  module_host w(c, static_cast<std::size_t>(c.integer("http.threads")));
  w.rt.starts = &starts;
  std::optional<db::database> database;
  std::optional<db::xmin_horizon_monitor> horizon;
  host_services r(w, c, dir_lock);
  const watchdog_heartbeat heartbeat(manager, w.loops);
  probes probe(w, r, stop);
  job_routes jobs_for_admins(w, r);
  add_node_routes(r, w);
  api_document api(r.server, web.base_path);
  std::optional<module_operations> changes;

  const auto connect = [&] {
    if (!database) w.rt.db = &database.emplace(postgres.wait());
  };

  // inspect, load, create, validate
  if (!postgres.is_private()) connect();  // while the modules are loaded
  if (!w.prepare(report_target::log)) return leave(w, exit_code::refused);
  for (const auto& p : c.warnings())
    observe::log(level::warn, "host", "an environment variable does not name a setting and is ignored",
                 {{"variable", p.format()}});
  const auto file = options.file.empty() ? default_config_file() : std::filesystem::path(options.file);
  for (const auto& text : deployment_warnings(c, file, present_circumstances()))
    observe::log(level::warn, "host", "the deployment is insecure", {{"warning", text}});

  // database, migrations
  connect();
  const auto database_settings = postgres.wait();
  changes.emplace(w, r, api, stop, starts, options, database_settings, c.duration("reload.drain_seconds"));
  db::migrator migrator(database_settings.session());
  bool unconfirmed = false;
  auto report = migrate_all(w, migrator, database_settings.session(), c, stop, manager, unconfirmed);
  report_modules(report, report_target::log);
  if (!report.ok()) return leave(w, fail("the database could not be brought up to date"));
  horizon.emplace(*database, c.duration("database.old_transaction_seconds"));
  probe.watch(&*horizon);
  r.limiter.attach(*database);

  // start
  report = w.modules.start();
  report_modules(report, report_target::log);
  if (!report.ok()) return leave(w, fail("a required module did not start"));
  if (unconfirmed) confirm_schema(migrator, all_migrations(w.modules));
  for (auto& kind : w.modules.jobs()) r.jobs.add(std::move(kind));
  if (const auto why = r.events.add_consumers(w.modules.consumers()); !why.empty()) return leave(w, fail(why));
  r.jobs.add_trim();
  r.jobs.start();
  r.events.start();
  r.traces.start();
  r.auth.warm_up();

  changes->note_started(c);
  if (c.flag("reload.on_file_change")) changes->watch_files(c);

  // listen
  try {
    r.server.publish(w.modules.routes());
    api.update(w.modules.routes(), w.modules.descriptions());
    // Clients that already wait on an inherited socket are served immediately.
    probe.serving();
    r.server.start(std::move(listener));
  } catch (...) {
    // Jobs are already running.
    r.shutdown(steady::now() + std::chrono::seconds(5));
    throw;
  }
  const auto url = base_url(where, r.server.port(), !web.tls_cert_file.empty());
  observe::log(
      level::info, "host", "ready",
      {{"url", url},
       {"ms", std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(steady::now() - begun).count())}});
  std::printf("listening on %s\n", url.c_str());
  std::fflush(stdout);
  config_reload reload(options, c, r.server, database_settings);
  stop.on_hangup([&] {
    manager.reloading();
    const auto renewed = reload.run();
    const auto modules = changes->reload_changed();
    observe::log(renewed.ok ? level::info : level::error, "host",
                 renewed.ok ? "reloaded on SIGHUP" : "not reloaded on SIGHUP",
                 {{"certificate", renewed.certificate},
                  {"database", renewed.database},
                  {"modules_with_new_files", std::to_string(modules)}});
    manager.ready(url);
  });
  manager.ready(url);
  ::malloc_trim(0);  // returns memory that only loading the modules needed

  stop.wait();
  manager.stopping();
  changes->stop();

  r.shutdown(steady::now() + c.duration("shutdown.drain_seconds"));
  postgres.stop();
  observe::log(level::info, "host", "stopped");
  return leave(w, exit_code::ok);
}

}  // namespace ry::app

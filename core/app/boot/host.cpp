#include "core/app/boot/host.hpp"

#include <ry/ext/event_bus.h>
#include <ry/if/auth.h>
#include <ry/if/db.h>
#include <ry/if/events.h>
#include <ry/if/http.h>
#include <ry/if/http_client.h>
#include <ry/if/jobs.h>
#include <ry/if/process.h>
#include <ry/if/secrets.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <utility>

#include "core/app/boot/load_config.hpp"
#include "core/app/boot/loading.hpp"
#include "core/app/boot/private_paths.hpp"
#include "core/app/boot/settings.hpp"
#include "core/events/abi.hpp"
#include "core/jobs/abi.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace {

// How long modules may take to end without an orderly stop, as in `check`.
constexpr auto short_stop = std::chrono::seconds(2);
// For the final state of modules if the drain has used all of its time.
constexpr auto least_module_stop = std::chrono::seconds(5);
constexpr auto trace_export = std::chrono::seconds(3);

template <class Table>
void offer(module::registry& r, const char* id, const Table& table) {
  r.interfaces.add(id, &table, sizeof(Table));
}

auth::fetch_fn fetch_by(http::client& egress, exec::loop_pool& loops) {
  return [&egress, &loops](const std::string& url, std::function<void(auth::fetched)> done) {
    http::fetch_request request;
    request.url = url;
    request.flags = RY_CLIENT_OPERATOR_URL;  // the configuration contains the address of the key set
    egress.fetch(&loops.pick(), request, [done = std::move(done)](http::fetch_result r) {
      if (r.error.status != RY_OK)
        done({{}, r.error.message});
      else if (r.status != 200)
        done({{}, "the server responded with status " + std::to_string(r.status)});
      else
        done({std::move(r.body), {}});
    });
  };
}

auth::settings with_dir(auth::settings s, const data_dir_lock& dir_lock) {
  s.data_dir = dir_lock.data_dir();
  return s;
}

jobs::queue_settings with_node(jobs::queue_settings s, const data_dir_lock& dir_lock) {
  s.node_id = dir_lock.node_id();
  s.previous_node_id = dir_lock.previous_node_id();
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) == 0) s.node_name = name;
  return s;
}

exporter_settings with_node(exporter_settings s, const data_dir_lock& dir_lock) {
  s.resource.emplace_back("service.version", RY_VERSION);
  s.resource.emplace_back("service.instance.id", dir_lock.node_id());
  return s;
}

http::settings with_dir(http::settings s, const data_dir_lock& dir_lock) {
  s.spool_dir = (dir_lock.data_dir() / "spool").string();
  return s;
}

// Authenticators (e.g. for API keys) are added and removed with their modules.
module::host_point authenticators(auth::authenticator* auth) {
  module::host_point p;
  p.id = RY_AUTHENTICATOR_1;
  p.min_size = sizeof(ry_authenticator_v1);
  p.added = [auth](ry_host* owner, std::string_view name, const void* table, void* self) {
    if (auth) auth->add_driver({std::string(name), owner, static_cast<const ry_authenticator_v1*>(table), self});
  };
  p.removed = [auth](std::string_view name, std::function<void()> done) {
    if (auth)
      auth->remove_driver(name, std::move(done));
    else
      done();
  };
  return p;
}

// Event buses, which carry live topics to other nodes, are also added and removed with their modules.
module::host_point event_buses(events::hub* hub) {
  module::host_point p;
  p.id = RY_EVENT_BUS_1;
  p.min_size = sizeof(ry_event_bus_v1);
  p.added = [hub](ry_host* owner, std::string_view name, const void* table, void* self) {
    if (hub) hub->bus().add({std::string(name), owner, static_cast<const ry_event_bus_v1*>(table), self});
  };
  p.removed = [hub](std::string_view name, std::function<void()> done) {
    if (hub)
      hub->bus().remove(name, std::move(done));
    else
      done();
  };
  return p;
}

}  // namespace

module_host::module_host(config::config& c, std::size_t loops)
    : tracer(trace_settings(c)), loops(loops), modules((rt.modules = &registry, rt), module_options(c)), config_(c) {
  rt.loops = &this->loops;
  rt.ops = &ops;
  rt.metrics = &metrics;
  rt.tracer = &tracer;
  rt.host_values = {{"version", RY_VERSION},
                    {"deployment.mode", c.text("deployment.mode")},
                    {"brand.name", c.text("brand.name")},
                    {"brand.color", c.text("brand.color")},
                    {"brand.logo_url", c.text("brand.logo_url")},
                    {"http.listen", c.text("http.listen")},
                    {"http.base_path", c.text("http.base_path")},
                    {"http.public_url", c.text("http.public_url")},
                    {"private_paths", private_paths(c)}};
  offer(registry, RY_HTTP_1, http::http_v1());
  offer(registry, RY_HTTP_CLIENT_1, http::http_client_v1());
  offer(registry, RY_DB_1, db::db_v1());
  offer(registry, RY_JOBS_1, jobs::jobs_v1());
  offer(registry, RY_EVENTS_1, events::events_v1());
  offer(registry, RY_PROCESS_1, process::process_v1());
  offer(registry, RY_SECRETS_1, auth::secrets_v1());
  offer(registry, RY_AUTH_1, auth::auth_v1());
  registry.host_points = {authenticators(nullptr), event_buses(nullptr)};
}

module_host::~module_host() {
  modules.stop(std::chrono::system_clock::now() + short_stop);
  loops.stop_and_join();
}

bool module_host::prepare(report_target target) {
  const auto found = find_modules(config_);
  config_.check_names(found.names);
  const bool named_well = config_.faults().empty();
  const auto mask_secrets = [this] {
    for (const auto& secret : config_.secret_texts()) observe::redact(secret);
  };
  mask_secrets();  // masks the host's secrets; those of modules once their schemas are known
  auto report = modules.prepare(found.specs);
  mask_secrets();
  bool sound = report.ok();
  std::vector<std::pair<std::string, std::string>> faults;
  for (const auto& kind : modules.jobs())
    if (auto fault = jobs::queue::check(kind); !fault.empty()) faults.emplace_back(kind.owner->name, std::move(fault));
  for (auto& [owner, fault] : faults) {
    const auto more = modules.fail(owner, std::move(fault));
    report.problems.insert(report.problems.end(), more.problems.begin(), more.problems.end());
    sound = sound && more.ok();
  }
  std::vector<std::pair<std::string, std::string>> drivers;
  for (const auto& m : modules.describe())
    for (const auto& d : m.drivers) drivers.emplace_back(d.point, d.name);
  // The settings of a skipped module are unknown.
  if (sound) {
    config_.check_drivers(drivers);
    config_.check_references();
  }
  const bool faultless = report_faults(config_);
  // A wrong name causes a module to be skipped, and the resulting problems in other modules would hide the cause.
  if (named_well) report_modules(report, target);
  return faultless && sound;
}

exit_code leave(const module_host& w, exit_code code) {
  const auto modules = w.modules.describe();
  const bool all_ended = std::none_of(modules.begin(), modules.end(),
                                      [](const auto& m) { return m.state == module::module_state::retired; });
  if (all_ended && w.registry.lifecycle.not_back() == 0) return code;
  std::fflush(nullptr);
  _exit(static_cast<int>(code));
}

host_services::host_services(module_host& w, config::config& c, const data_dir_lock& dir_lock)
    : egress(w.loops, w.ops, egress_settings(c)),
      auth(with_dir(auth_settings(c), dir_lock), fetch_by(egress, w.loops)),
      secrets(secret_keys(c), dir_lock.data_dir()),
      callers(auth),
      processes(w.loops),
      jobs(w.rt, with_node(queue_settings(c), dir_lock)),
      events(w.rt, std::chrono::duration_cast<std::chrono::seconds>(c.duration("events.keep_seconds"))),
      limiter(limit_settings(c)),
      server({&w.loops, &callers, &blocking, &w.tracer, &limiter}, with_dir(http_settings(c), dir_lock)),
      traces(w.tracer, egress, w.loops.at(w.loops.size() - 1), with_node(trace_exporter_settings(c), dir_lock)),
      host_(w) {
  for (const auto& problem : http::environment_proxies(proxy_variables(config::process_environment())).problems())
    observe::log(observe::level::warn, "host", "a proxy of the environment cannot be used; requests that need it fail",
                 {{"problem", problem}});
  auto& rt = w.rt;
  rt.blocking = &blocking;
  rt.http_client = &egress;
  rt.auth = &auth;
  rt.secrets = &secrets;
  rt.processes = &processes;
  rt.jobs = &jobs;
  rt.events = &events;
  rt.host_values["node_id"] = dir_lock.node_id();
  rt.host_values["data_dir"] = dir_lock.data_dir().string();
  w.registry.host_points = {authenticators(&auth), event_buses(&events)};
}

host_services::~host_services() {
  shutdown(std::chrono::steady_clock::now() + short_stop);
  host_.loops.stop_and_join();
}

void host_services::drain(std::chrono::steady_clock::time_point deadline) {
  std::atomic<bool> released{false};
  std::thread release([&] {
    jobs.stop(deadline);
    released = true;
  });
  server.drain(deadline, [&] { return released.load(); });
  release.join();
}

void host_services::shutdown(std::chrono::steady_clock::time_point deadline) {
  if (std::exchange(is_shut_down_, true)) return;
  drain(deadline);
  const auto now = std::chrono::steady_clock::now();
  const auto modules_by = std::max(deadline, now + least_module_stop);
  host_.modules.stop(std::chrono::system_clock::now() +
                     std::chrono::duration_cast<std::chrono::system_clock::duration>(modules_by - now));
  events.stop();
  traces.stop(std::chrono::steady_clock::now() + trace_export);
  egress.stop();
  processes.stop();
  if (host_.rt.db != nullptr) host_.rt.db->stop();
}

}  // namespace ry::app

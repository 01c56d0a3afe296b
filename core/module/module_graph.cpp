#include "core/module/module_graph.hpp"

#include <ry/ext/command.h>
#include <ry/ext/settings_check.h>

#include <algorithm>
#include <mutex>
#include <ry/cpp/text.hpp>
#include <stdexcept>

#include "core/module/crash_reporter.hpp"
#include "core/module/describe_text.hpp"
#include "core/module/graph.hpp"
#include "core/module/start_guard.hpp"
#include "core/module/text.hpp"
#include "core/module/validate.hpp"
#include "core/observe/log.hpp"

namespace ry::module {

namespace {

using observe::level;

// Minimum time for each module to end, even after the common deadline, so that one hanging module does not cost the
// others theirs.
constexpr auto least_time = std::chrono::milliseconds(500);

bool is_sha256(const std::string& s) {
  return s.size() == 64 && s.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

// A start may fail and end the process; a running server must continue.
module_step::time_limit time_limit_at(module_graph::load_phase when) {
  return when == module_graph::load_phase::start ? module_step::time_limit::thirty_seconds
                                                 : module_step::time_limit::endless;
}

void describe_registered(const registration& r, module_description& d) {
  for (const auto& x : r.routes) d.routes.push_back(x.method + " " + x.pattern);
  for (const auto& x : r.jobs) d.jobs.push_back(x.cron.empty() ? x.kind : x.kind + " @ " + x.cron);
  for (const auto& x : r.consumers) {
    std::string kinds;
    for (const auto& k : x.kinds) kinds += (kinds.empty() ? "" : ",") + k;
    d.consumers.push_back(x.name + ": " + kinds);
  }
  for (const auto& x : r.services) d.services.push_back(x.id);
  for (const auto& x : r.points) d.points.push_back(x.id);
  for (const auto& x : r.drivers) d.drivers.push_back({x.point, x.name});
  for (const auto& x : r.migrations) d.migrations.push_back(x.id);
}

}  // namespace

void module_graph::set_state(std::size_t i, module_state s, std::string reason) {
  std::unique_lock lock(mutex);
  entries[i].state = s;
  if (!reason.empty()) entries[i].reason = std::move(reason);
}

void module_graph::add_problem(std::size_t i, const std::string& message, report& out, bool follows) {
  const bool fatal = entries[i].spec.failure == module_spec::on_failure::abort;
  out.problems.push_back({entries[i].manifest.name, message, fatal, follows});
  if (entries[i].state != module_state::retired) set_state(i, module_state::refused, message);
}

// All modules in `order` that transitively need one of `failed`, in order.
std::vector<std::size_t> module_graph::dependents(const std::set<std::size_t>& failed) const {
  std::set<std::size_t> all = failed;
  std::vector<std::size_t> out;
  for (const std::size_t i : order) {
    if (all.contains(i)) continue;
    const auto it = required.find(i);
    if (it == required.end()) continue;
    if (std::any_of(it->second.begin(), it->second.end(), [&](std::size_t to) { return all.contains(to); })) {
      all.insert(i);
      out.push_back(i);
    }
  }
  return out;
}

std::string module_graph::needed_of(std::size_t user, const std::set<std::size_t>& failed) const {
  for (const std::size_t to : required.at(user))
    if (failed.contains(to))
      for (const auto& n : entries[user].manifest.needs)
        if (!n.optional && std::count(entries[to].manifest.provides.begin(), entries[to].manifest.provides.end(), n.id))
          return quoted_module(entries[user].manifest.name) + " needs " + n.id + " of " +
                 quoted_module(entries[to].manifest.name) + ", which failed.";
  return quoted_module(entries[user].manifest.name) + " needs a module that failed.";
}

void module_graph::drop(std::size_t i, const std::string& message, report& out) {
  drop(reasons{{i, message}}, out);
}

void module_graph::drop(reasons out_with, report& out) {
  std::set<std::size_t> failed;
  for (const auto& [i, message] : out_with) failed.insert(i);
  const std::size_t to_blame = out_with.size();
  for (const std::size_t k : dependents(failed)) {
    if (entries[k].state == module_state::refused) continue;
    out_with.emplace_back(k, needed_of(k, failed));
    failed.insert(k);
  }
  for (auto it = out_with.rbegin(); it != out_with.rend(); ++it)
    if (entries[it->first].present()) end(it->first, clock::now() + failed_start_time, unmapping::unmap);
  for (std::size_t n = 0; n < out_with.size(); ++n)
    add_problem(out_with[n].first, out_with[n].second, out, n >= to_blame);
}

void module_graph::look(const module_spec& spec, report& out) {
  module_entry e;
  e.spec = spec;
  if (spec.used == module_spec::use::disabled) {
    e.seen = inspect(spec.file);
  } else {
    try {
      e.image = std::make_shared<const sealed_image>(spec.file);
      e.seen = inspect(*e.image);
    } catch (const std::runtime_error& why) {
      e.seen.problems.push_back(std::string(why.what()) + ".");
    }
  }
  if (e.seen.manifest)
    e.manifest = *e.seen.manifest;
  else
    e.manifest.name = spec.file.filename().string();
  const std::size_t i = entries.size();
  entries.push_back(std::move(e));
  if (spec.used == module_spec::use::disabled) return set_state(i, module_state::disabled);
  set_state(i, module_state::created);
  for (const auto& w : entries[i].seen.warnings)
    observe::log(level::warn, "module", w, {{"file", spec.file.filename().string()}});
  if (const std::string no = refuse_file(entries[i]); !no.empty()) add_problem(i, no, out);
}

std::string module_graph::refuse_file(const module_entry& e) const {
  const std::string file = "module file \"" + e.spec.file.filename().string() + "\": ";
  if (!e.seen.problems.empty()) return file + e.seen.problems.front();
  if (!e.spec.sha256.empty() && !is_sha256(e.spec.sha256))
    return file + "its configured sha256 is not 64 hexadecimal digits.";
  if (!e.spec.sha256.empty() && e.image && !e.image->has_path())
    return file + "its sha256 cannot be checked without /proc: the loaded file could differ from the hashed one.";
  if (!e.spec.sha256.empty() && lower_ascii(e.spec.sha256) != e.seen.sha256)
    return file + "it has the SHA-256 " + e.seen.sha256 + ", but the configuration pins " + lower_ascii(e.spec.sha256) +
           "; install the pinned file or change the pin.";
  if (rt.starts) {
    if (const auto why = rt.starts->objection(e.manifest.name, e.seen.sha256); !why.empty()) {
      if (e.spec.failure == module_spec::on_failure::skip)
        return quoted_module(e.manifest.name) + " is not started: " + why +
               ". Replace the file, or start it again with `runyard modules enable " + e.manifest.name + "`.";
      observe::log(level::error, "module",
                   "a required module is started although it crashed the server in an earlier start",
                   {{"module", e.manifest.name},
                    {"version", e.manifest.version},
                    {"file", e.spec.file.string()},
                    {"reason", why}});
    }
  }
  if (options.taken_by)
    if (const auto why = options.taken_by(e.manifest.name); !why.empty())
      return file + "no module can be called \"" + e.manifest.name + "\": " + why + ".";
  return refuse_manifest(e.manifest, options.host_minor);
}

void module_graph::arrange(report& out) {
  host_offer offer;
  for (const auto& id : reg.interfaces.ids()) offer[id] = reg.interfaces.size_of(id);
  for (const auto& p : reg.host_points) offer[p.id] = 0;
  offer[RY_SETTINGS_CHECK_1] = 0;
  offer[RY_COMMAND_1] = 0;
  std::vector<graph_node> nodes;
  for (const auto& e : entries) {
    using presence = graph_node::presence;
    nodes.push_back({e.manifest.name, e.spec.file.filename().string(),
                     e.state == module_state::disabled  ? presence::disabled
                     : e.state == module_state::refused ? presence::refused
                                                        : presence::enabled,
                     e.manifest.needs, e.manifest.provides});
  }
  graph_result r = resolve(nodes, offer);
  for (const auto& note : r.notes) observe::log(level::info, "module", note);
  for (const auto& no : r.refused) add_problem(no.node, no.message, out, no.follows);
  order = std::move(r.order);
  required = std::move(r.required);
}

// A new library would keep using the variables of the library that was loaded first.
void module_graph::refuse_shared_symbols(const module_entry& e) const {
  for (const auto& symbol : e.seen.unique_symbols)
    if (reg.unique_symbols.contains(symbol))
      throw std::runtime_error(
          "it exports the unique symbol " + symbol +
          ", which a loaded library also exports, so both would share one variable. Restart the server, or "
          "link the module with the SDK's version script");
}

void module_graph::load_all(report& out, load_phase when) {
  if (options.run_preflight)
    for (const std::size_t i : order) {
      module_entry& e = entries[i];
      // Preflight where the host must continue without the module. Start them concurrently: each preflight is a
      // process.
      const bool careful = when == load_phase::change || e.spec.failure == module_spec::on_failure::skip;
      if (careful && e.state == module_state::created) e.tried = options.run_preflight(e.image->path());
    }
  for (const std::size_t i : order) {
    module_entry& e = entries[i];
    if (e.state != module_state::created) continue;
    const auto image = std::move(e.image);
    try {
      if (e.tried)
        if (const auto why = e.tried->load(); !why.empty()) throw std::runtime_error(why);
      if (when == load_phase::change) refuse_shared_symbols(e);
      const module_step step(e.manifest.name, "its constructors", time_limit_at(when));
      e.gen = std::make_shared<module_instance>(rt, image, e.manifest, options.host_minor);
      reg.unique_symbols.insert(e.seen.unique_symbols.begin(), e.seen.unique_symbols.end());
    } catch (const std::runtime_error& ex) {
      std::string why = ex.what();
      if (!why.starts_with("module ")) why = quoted_module(e.manifest.name) + ": " + why + ".";
      drop(i, why, out);
    }
  }
  // The remaining copies belong to modules that are not loaded.
  for (auto& e : entries) e.image.reset();
}

void module_graph::create_all(report& out, const settings_fn& settings_of, const setting_faults& faults) {
  // Validate all settings first, so that an error in one module does not hide errors in others.
  std::map<std::size_t, settings_result> all;
  for (const std::size_t i : order)
    if (settings_of && entries[i].state == module_state::created)
      all[i] = settings_of(entries[i].manifest, entries[i].gen->config_schema());
  // Also create modules that need a failed one: create() does not use other modules yet, and errors in their settings
  // are reported together with the rest.
  reasons failed;
  for (const std::size_t i : order) {
    module_entry& e = entries[i];
    if (e.state != module_state::created) continue;
    const settings_result settings = all[i];
    if (!settings.error.empty()) {
      unload(i, unmapping::unmap);
      failed.emplace_back(i, quoted_module(e.manifest.name) + " has settings that are not valid: " + settings.error);
      continue;
    }
    if (const auto tried = std::move(e.tried)) {
      if (const auto why = tried->create(settings.json, rt.host_values); !why.empty()) {
        // It is unknown whether the module can be unloaded safely.
        unload(i, unmapping::keep_mapped);
        failed.emplace_back(i, quoted_module(e.manifest.name) + ": " + why + ".");
        continue;
      }
    }
    const std::string no = e.gen->create(settings.json);
    if (!no.empty()) {
      // It may have started work before it failed.
      if (e.gen->quiesce(clock::now() + least_time))
        unload(i, unmapping::unmap);
      else
        retire(i, e.gen->hung() ? "it did not return from " + std::string(e.gen->hung())
                                : "it failed in create and left work in progress");
      const auto position = faults.position_of ? faults.position_of(e.manifest, no) : std::string();
      failed.emplace_back(i, position.empty() ? quoted_module(e.manifest.name) + " failed in create: " + no + "."
                                              : position + ": " + no + ".");
      continue;
    }
    describe_registered(e.gen->registered(), e.registered);
    e.registered.settings_schema = e.gen->config_schema();
  }
  std::set<std::size_t> missing;
  for (const auto& [i, message] : failed) missing.insert(i);
  std::vector<std::size_t> lost;
  for (const std::size_t i : dependents(missing))
    if (entries[i].present()) lost.push_back(i);
  check_settings(lost, out, faults);
  drop(std::move(failed), out);
}

std::vector<graph_refusal> module_graph::validation_errors() const {
  host_side host;
  for (const auto& p : reg.host_points) host.points[p.id] = p.min_size;
  host.points[RY_SETTINGS_CHECK_1] = sizeof(ry_settings_check_v1);
  host.points[RY_COMMAND_1] = sizeof(ry_command_v1);
  host.routes = options.host_routes;
  host.components = options.host_components;
  if (const auto it = rt.host_values.find("http.base_path"); it != rt.host_values.end()) host.base_path = it->second;
  while (host.base_path.ends_with('/')) host.base_path.pop_back();
  std::vector<staged_module> staged;
  std::vector<std::size_t> which;
  for (const std::size_t i : order)
    if (entries[i].present()) {
      staged.push_back({&entries[i].gen->manifest(), &entries[i].gen->registered()});
      which.push_back(i);
    }
  auto refused = validate(staged, host);
  for (auto& no : refused) no.node = which[no.node];
  return refused;
}

void module_graph::announce_to(std::size_t owner) {
  for (const auto& p : entries[owner].gen->registered().points)
    for (const std::size_t i : order) {
      if (!entries[i].present()) continue;
      for (const auto& d : entries[i].gen->registered().drivers) {
        if (d.point != p.id) continue;
        drivers.push_back({i, owner, d, p, nullptr});
        entries[i].gen->announce(d, *entries[owner].gen, p);
      }
    }
}

void module_graph::check_settings(const std::vector<std::size_t>& asked, report& out, const setting_faults& faults) {
  // Check all modules before dropping any, so that an error in one does not hide errors in those that need it.
  reasons refused;
  for (const std::size_t i : asked) {
    const auto& manifest = entries[i].manifest;
    if (const char* call = entries[i].gen->hung()) {
      refused.emplace_back(i, quoted_module(manifest.name) + " did not return from " + call + ".");
      continue;
    }
    std::string why;
    for (const auto& f : entries[i].gen->check_settings()) {
      const std::string key = manifest.name + (f.key.empty() ? "" : "." + f.key);
      why += why.empty() ? "" : "; ";
      why += faults.refuse ? faults.refuse(manifest, key, f.message) : key + " " + f.message;
    }
    if (!why.empty())
      refused.emplace_back(i, quoted_module(manifest.name) + " has settings that are not valid: " + why);
  }
  drop(std::move(refused), out);
}

// The host uses drivers of running modules only.
void module_graph::announce_to_host(std::size_t i) {
  for (const auto& d : entries[i].gen->registered().drivers)
    for (const auto& p : reg.host_points) {
      if (d.point != p.id) continue;
      drivers.push_back({i, no_module, d, {}, &p});
      p.added(entries[i].gen->host(), d.name, d.table, d.self);
    }
}

void module_graph::start_one(std::size_t i, report& out) {
  module_entry& e = entries[i];
  const auto begin = clock::now();
  if (rt.starts) rt.starts->starting(e.manifest.name, e.seen.sha256);
  const std::string no = e.gen->start();
  if (rt.starts) rt.starts->started(e.manifest.name);
  if (!no.empty()) {
    // The module may still use its drivers' objects, so it must end before they do. It is not stopped, so it gets no
    // `removed` calls.
    std::erase_if(drivers, [&](const announced& a) { return a.owner == i; });
    drop_failed_start(i, no, out);
    return;
  }
  set_state(i, module_state::started);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
  observe::log(level::info, "module", "started",
               {{"module", e.manifest.name}, {"version", e.manifest.version}, {"ms", std::to_string(ms.count())}});
}

void module_graph::drop_failed_start(std::size_t i, const std::string& message, report& out) {
  end(i, clock::now() + failed_start_time, unmapping::unmap);
  drop(i, message, out);
}

// Returns false if an owner still uses one of the drivers.
bool module_graph::withdraw_drivers(std::size_t i, clock::time_point deadline) {
  bool all = true;
  std::vector<announced> mine;
  for (const auto& a : drivers)
    if (a.driver_module == i) mine.push_back(a);
  std::erase_if(drivers, [&](const announced& a) { return a.driver_module == i; });
  for (const auto& a : mine) {
    bool done = true;
    if (a.replacement) {
      done = a.replacement->wait_until(deadline);
    } else if (a.host) {
      auto free = std::make_shared<latch>();
      a.host->removed(a.what.name, [free] { free->open(); });
      done = free->wait_until(deadline);
    } else if (entries[a.owner].gen) {
      done = entries[i].gen->withdraw(a.what, *entries[a.owner].gen, a.where, deadline);
    }
    if (!done)
      observe::log(level::error, "module", "a driver is still in use at the deadline",
                   {{"module", entries[i].manifest.name}, {"point", a.what.point}, {"driver", a.what.name}});
    all = all && done;
  }
  return all;
}

// Brings a module from any state to destroyed, or retires it if it does not end in time.
bool module_graph::end(std::size_t i, clock::time_point deadline, unmapping unmap) {
  module_entry& e = entries[i];
  if (!e.gen) return true;
  const auto abandon = [&](const std::string& why) {
    retire(i, why);
    return false;
  };
  const bool was_started = e.state == module_state::started;
  deadline = std::max(deadline, clock::now() + least_time);
  set_state(i, module_state::created);  // health() skips it from now on
  const bool unused = withdraw_drivers(i, deadline);
  const bool stopped = !was_started || e.gen->stop(deadline);
  if (e.gen->hung()) return abandon("it did not return from " + std::string(e.gen->hung()));
  if (!stopped) return abandon("it did not stop before the deadline");
  if (!unused) return abandon("one of its drivers is still in use");
  if (!e.gen->quiesce(deadline)) {
    std::string why = std::to_string(e.gen->host()->outstanding.load()) + " operations or handles are outstanding";
    for (const auto& lease : reg.leases_on(e.gen->host())) why += ", lease of " + lease;
    return abandon(why);
  }
  if (!e.gen->destroy()) return abandon("it did not return from destroy");
  if (!e.gen->quiesce(clock::now() + least_time))
    return abandon("some of its operations or handles are outstanding after destroy");
  const bool unmapped = unload(i, unmap);
  set_state(i, module_state::stopped);
  return unmapped;
}

const char* why_mapped(const module_manifest& manifest) noexcept {
  return manifest.flags & RY_MODULE_NO_UNLOAD
             ? "the module asks for it (RY_MODULE_NO_UNLOAD)"
             : "the dynamic loader keeps it: thread-local variables with destructors (as in Rust's standard library), a unique "
               "symbol, or a sanitizer";
}

bool module_graph::unload(std::size_t i, unmapping unmap) {
  module_entry& e = entries[i];
  std::unique_lock lock(mutex);
  remember(e);
  bool unmapped = false;
  if (unmap == unmapping::keep_mapped || (e.manifest.flags & RY_MODULE_NO_UNLOAD))
    e.gen->code().pin();
  else
    unmapped = e.gen->code().close();
  if (unmap == unmapping::unmap && !unmapped)
    observe::log(level::info, "module", "module stopped, but its code stays mapped",
                 {{"module", e.manifest.name}, {"reason", why_mapped(e.manifest)}});
  e.gen.reset();
  return unmapped;
}

void module_graph::remember(module_entry& e) {
  ry_host& h = *e.gen->host();
  e.registered.slow_callbacks = h.slow_callbacks;
  e.registered.violations = h.violations;
  e.schema_misses = h.schema_misses;
  e.registered.outstanding = h.outstanding;
  std::lock_guard lock(h.mutex);
  e.registered.last_violation = h.last_violation;
}

void module_graph::retire(std::size_t i, const std::string& why) {
  module_entry& e = entries[i];
  observe::log(level::error, "module", "module left in memory because it did not stop",
               {{"module", e.manifest.name}, {"reason", why}});
  e.gen->code().pin();
  reg.withdraw(e.gen->host());
  set_state(i, module_state::retired, why);
  std::unique_lock lock(mutex);
  remember(e);
  reg.retire(std::move(e.gen));
  e.gen = nullptr;
}

}  // namespace ry::module

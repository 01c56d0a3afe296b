#include "core/app/admin/module_operations.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <future>
#include <set>
#include <thread>

#include "core/app/admin/admin_database.hpp"
#include "core/app/boot/file_watch.hpp"
#include "core/app/boot/loading.hpp"
#include "core/app/boot/migration_progress.hpp"
#include "core/app/boot/schema_update.hpp"
#include "core/app/boot/start_guard.hpp"
#include "core/db/migrator.hpp"
#include "core/module/inspect.hpp"
#include "core/module/manifest.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace json = boost::json;
using observe::level;
using steady = std::chrono::steady_clock;

namespace {

// How long a new instance may wait for owners of extension points that cannot hold it next to the old one, and how long
// an old instance may take to end once it is unused.
constexpr auto short_patience = std::chrono::seconds(5);

// The actor in the audit log when no account requested the swap.
constexpr const char* by_file_watch = "host:file_change";
constexpr const char* by_signal = "host:SIGHUP";

const char* word(module_operations::action a) {
  switch (a) {
    case module_operations::action::enable:
      return "enable";
    case module_operations::action::disable:
      return "disable";
    default:
      return "reload";
  }
}

const char* outcome_of(module_operations::action a) {
  switch (a) {
    case module_operations::action::enable:
      return "enabled";
    case module_operations::action::disable:
      return "disabled";
    default:
      return "swapped";
  }
}

// One line per problem. Faults in the configuration are reported instead if they are the cause, because they are more
// precise.
std::string text_of(const module::report& r, const config::config& c) {
  std::string out;
  const auto add = [&](const std::string& line) { out += (out.empty() ? "" : "\n") + line; };
  for (const auto& fault : c.faults()) add(fault.format());
  if (out.empty())
    for (const auto& p : r.problems)
      if (!p.follows) add(p.message);
  return out;
}

json::object described(const module::module_end& e) {
  using outcome = module::module_end::outcome;
  json::object o{{"module", e.module}, {"version", e.version}, {"instance", e.instance}, {"generation", e.instance}};
  o["outcome"] = e.how == outcome::unloaded       ? "unloaded"
                 : e.how == outcome::still_mapped ? "ended (still mapped)"
                                                  : "retired (still mapped)";
  if (!e.why.empty()) o["reason"] = e.why;
  return o;
}

std::string names_of(const std::vector<db::migration_step>& steps) {
  std::string out;
  for (const auto& s : steps) out += (out.empty() ? "" : ", ") + s.module + " " + s.id;
  return out;
}

db::migration_report migrate(db::migrator& migrator, const std::vector<module::module_migrations>& steps) {
  if (steps.empty()) return {};
  migration_progress progress;
  return migrator.up(steps, &progress);
}

std::vector<std::string> watched_directories(const config::config& c) {
  std::set<std::string> all;
  for (const auto& dir : c.module_paths()) all.insert(dir);
  for (const auto& m : c.modules())
    if (!m.path.empty()) all.insert(std::filesystem::absolute(m.path).parent_path().string());
  return {all.begin(), all.end()};
}

}  // namespace

module_operations::module_operations(module_host& w, host_services& r, api_document& api, signals& main,
                                     start_guard& starts, config_options options, db::settings database,
                                     std::chrono::milliseconds drain)
    : host_(w),
      services_(r),
      api_(api),
      main_(main),
      starts_(starts),
      options_(std::move(options)),
      database_(std::move(database)),
      drain_(drain),
      record_(w.metrics) {
  constexpr auto flags = RY_ROUTE_ADMIN | RY_ROUTE_LONG;  // the request waits until the old module has ended
  r.server.add_host_route(
      {"GET", "/admin/modules", [this](auto&) { return list(); }, http::runs_on::blocking, RY_ROUTE_ADMIN});
  for (const auto what : {action::reload, action::enable, action::disable})
    r.server.add_host_route({"POST", std::string("/admin/modules/{name}/") + word(what),
                             [this, what](auto& view) { return asked(what, view); }, http::runs_on::blocking, flags});
}

module_operations::~module_operations() = default;

void module_operations::note_started(const config::config& c) {
  const auto before = newest_;
  for (const auto& m : host_.modules.describe()) {
    newest_ = std::max(newest_, m.instance);
    // Settings contain secrets, so only their digest is stored.
    if (m.instance > before) applied_[m.manifest.name] = db::sha256_hex(c.accepted_settings(m.manifest.name));
    if (m.state != module::module_state::disabled) record_.register_module(m.manifest.name);
  }
}

void module_operations::watch_files(const config::config& c) {
  watch_ = std::make_unique<file_watch>(watched_directories(c), [this](const std::filesystem::path& file) {
    main_.post([this, file] { file_changed(file); });
  });
}

void module_operations::stop() {
  watch_.reset();
}

http::host_answer module_operations::list() const {
  auto modules = json::parse(module::to_json(host_.modules.describe())).as_array();
  record_.add_to(modules);
  return {200, "application/json", json::serialize(modules)};
}

http::host_answer module_operations::asked(action what, const ry_request_view& view) {
  const std::string name = view.n_params > 0 ? core::str(view.params[0].value) : std::string();
  const std::string actor = view.principal ? core::str(view.principal->subject) : std::string();
  // The text is not repeated: it may be long, and it is no module's name.
  if (!module::valid_module_name(name)) return error_answer(404, "There is no module of this name");
  // Otherwise each waiting request would occupy a blocking thread until this swap ends.
  if (busy_.exchange(true)) return error_answer(409, "Another module swap is in progress");
  observe::log(level::info, "module", "module swap requested",
               {{"module", name}, {"action", word(what)}, {"by", actor}});
  auto answer = std::make_shared<std::promise<http::host_answer>>();
  auto done = answer->get_future();
  const bool posted = main_.post([this, actor, what, name, answer] { answer->set_value(run_for(actor, what, name)); });
  answer.reset();
  http::host_answer out = error_answer(503, "The server is stopping");
  try {
    if (posted) out = done.get();
  } catch (const std::future_error&) {  // the server stops before this request was run
  }
  busy_ = false;
  return out;
}

http::host_answer module_operations::run_for(const std::string& actor, action what, const std::string& name) {
  auto out = run(what, name);
  json::object detail{{"module", name}};
  if (out.status != 200) {
    const auto why = json::parse(out.body).at("detail");
    detail["refused"] = observe::masked(std::string(why.as_string()));
  }
  publish_audit_event(*host_.rt.db, actor, std::string("module.") + word(what), json::serialize(detail));
  return out;
}

bool module_operations::compare(const module::module_description& m, const std::string& actor) {
  if (m.state != module::module_state::started || module::inspect(m.file).sha256 == m.sha256) return false;
  observe::log(level::info, "module", "the file of a module has changed", {{"module", m.manifest.name}});
  run_for(actor, action::reload, m.manifest.name);
  return true;
}

void module_operations::file_changed(const std::filesystem::path& file) {
  const auto whole = [](const std::filesystem::path& p) { return std::filesystem::absolute(p).lexically_normal(); };
  for (const auto& m : host_.modules.describe())
    if (whole(m.file) == whole(file)) (void)compare(m, by_file_watch);
}

std::size_t module_operations::reload_changed() {
  std::size_t changed = 0;
  for (const auto& m : host_.modules.describe()) changed += compare(m, by_signal) ? 1 : 0;
  return changed;
}

std::vector<std::string> module_operations::unapplied_settings(config::config& fresh) const {
  std::vector<std::string> out;
  for (const auto& m : host_.modules.describe()) {
    const auto applied = applied_.find(m.manifest.name);
    if (m.state != module::module_state::started || applied == applied_.end()) continue;
    // Invalid settings also count as different: a reload then reports the fault.
    const auto now = fresh.module_settings(m.manifest.name, m.settings_schema);
    if (!now || db::sha256_hex(*now) != applied->second) out.push_back(m.manifest.name);
  }
  return out;
}

module::swap_request module_operations::request_for(action what, const std::string& name, config::config& fresh,
                                                    std::string& error) const {
  module::swap_request request;
  const auto found = find_modules(fresh);
  fresh.check_names(found.names);
  if (!fresh.faults().empty()) {
    error = fresh.faults().front().format();
    return request;
  }
  const auto at = std::find(found.names.begin(), found.names.end(), name);
  if (at == found.names.end()) {
    error = "There is no module \"" + name + "\" in modules.path";
    return request;
  }
  auto spec = found.specs[static_cast<std::size_t>(at - found.names.begin())];
  using use = module::module_spec::use;
  spec.used = what == action::disable ? use::disabled : use::enabled;
  request.modules.push_back({name, std::move(spec)});
  const auto options = module_options(fresh);
  request.settings = options.settings;
  request.faults = options.faults;
  return request;
}

std::string module_operations::try_start(std::unique_ptr<module::module_swap>& swap,
                                         const module::swap_request& request, const config::config& fresh) {
  const auto steps = swap->migrations();
  if (steps.empty()) return {};
  auto pending = db::migrator(database_.session()).status(steps);
  std::erase_if(pending, [](const auto& s) { return s.is != db::migration_step::state::pending; });
  if (pending.empty()) return {};
  observe::log(level::info, "module", "trial start before migrations are applied", {{"pending", names_of(pending)}});
  const auto tried = swap->start();
  // Without the module's tables a start would prove nothing.
  const bool missed_schema = swap->missed_schema();
  swap.reset();
  if (!tried.problems.empty() && !missed_schema) return text_of(tried, fresh);
  swap = host_.modules.begin_swap();
  const auto again = swap->stage(request);
  return again.problems.empty() ? std::string() : text_of(again, fresh);
}

void module_operations::publish(const std::vector<module::job_kind>& old_jobs,
                                const std::vector<module::consumer>& old_consumers) {
  auto& modules = host_.modules;
  // Publish the job kinds before the routes: the old instance must not run a job that a request to the new one adopts.
  std::set<std::string> kinds;
  for (auto& kind : modules.jobs()) {
    kinds.insert(kind.kind);
    services_.jobs.add(std::move(kind));
  }
  services_.server.publish(modules.routes());
  api_.update(modules.routes(), modules.descriptions());
  for (const auto& kind : old_jobs)
    if (!kinds.contains(kind.kind)) services_.jobs.remove(kind.kind);
  const auto consumers = modules.consumers();
  std::set<std::pair<std::string, std::string>> names;
  for (const auto& c : consumers) names.emplace(c.owner->name, c.name);
  std::vector<module::consumer> gone;
  for (const auto& c : old_consumers)
    if (!names.contains({c.owner->name, c.name})) gone.push_back(c);
  services_.events.remove_consumers(gone);
  if (const auto why = services_.events.add_consumers(consumers); !why.empty())
    observe::log(level::error, "events", why);
  services_.jobs.wake();
}

http::host_answer module_operations::run(action what, const std::string& name) {
  const auto begun = steady::now();
  auto& modules = host_.modules;
  const auto fail = [&](std::uint32_t status, const std::string& why) {
    observe::log(level::error, "module", "module swap refused; the running module is unchanged",
                 {{"module", name}, {"action", word(what)}, {"reason", why}});
    record_.count(name, "refused");
    return error_answer(status, why);
  };
  const auto present = [&] {
    const auto all = modules.describe();
    return std::any_of(all.begin(), all.end(), [&](const auto& m) {
      return m.manifest.name == name && m.state == module::module_state::started;
    });
  }();
  if (what == action::enable && present) return fail(409, "Module \"" + name + "\" is running");
  if (what != action::enable && !present) return fail(404, "Module \"" + name + "\" is not running");

  starts_.started(name);  // the operator requests a start, regardless of how the last one ended

  // The configuration may have been edited: the swapped module gets the current settings.
  auto with = options_;
  auto requested = requested_;
  requested[name] = what != action::disable;
  auto configured = load_config(options_);
  if (!configured.faults().empty()) return fail(409, configured.faults().front().format());
  const auto entries = configured.modules();
  const auto names = find_modules(configured).names;
  for (const auto& [module, on] : requested) {
    const bool has_entry =
        std::any_of(entries.begin(), entries.end(), [&module = module](const auto& e) { return e.name == module; });
    const bool is_new = module == name && !present;
    // The override below would otherwise be reported as an invalid setting, although the operator did not set it.
    if (on && (is_new || !has_entry) && std::find(names.begin(), names.end(), module) == names.end())
      return fail(is_new ? 404 : 409, "Module \"" + module + "\" is not in modules.path");
    // Skips a disabled module whose file and settings were removed: the configuration would refuse its name.
    if (on || has_entry) with.overrides.push_back("modules." + module + ".enabled=" + (on ? "true" : "false"));
  }
  auto fresh = load_config(with);
  if (!fresh.faults().empty()) return fail(409, fresh.faults().front().format());
  std::string error;
  const auto request = request_for(what, name, fresh, error);
  if (!error.empty()) return fail(409, error);

  auto swap = modules.begin_swap();
  auto report = swap->stage(request);
  if (!report.problems.empty()) {
    swap.reset();
    return fail(409, text_of(report, fresh));
  }
  for (const auto& secret : fresh.secret_texts()) observe::redact(secret);
  for (const auto& kind : swap->jobs())
    if (error = jobs::queue::check(kind); !error.empty()) break;
  db::migration_report schema;
  const auto steps = swap->migrations();
  db::migrator migrator(database_.session());
  try {
    if (error.empty()) error = try_start(swap, request, fresh);
    if (error.empty()) schema = migrate(migrator, steps);
    if (!schema.ok()) error = schema.problems.front().module + ": " + schema.problems.front().message;
  } catch (const std::exception& e) {
    error = e.what();
  }
  // Applied migrations stay: the running versions work with them and can be started with them.
  const auto with_applied = [&](const std::string& why) {
    return schema.applied.empty() ? why
                                  : why + "\nThese migrations were applied before the failure and stay in place: " +
                                        names_of(schema.applied);
  };
  if (!error.empty()) {
    swap.reset();  // ends the new instances before the failure is reported
    return fail(409, with_applied(error));
  }
  report = swap->start();
  if (!report.problems.empty()) {
    swap.reset();
    return fail(409, with_applied(text_of(report, fresh)));
  }
  if (schema.unconfirmed) confirm_schema(migrator, steps);

  const auto old_jobs = modules.jobs();
  const auto old_consumers = modules.consumers();
  swap->commit(steady::now() + short_patience);
  publish(old_jobs, old_consumers);
  requested_ = std::move(requested);
  const auto swapped = steady::now();
  observe::log(level::info, "module", "module swap applied", {{"module", name}, {"action", word(what)}});
  const auto before = newest_;
  note_started(fresh);
  record_.count(name, outcome_of(what));

  // Requests and streams drain while jobs get time to finish.
  const auto old = swap->leaving();
  const auto time_is_up = [&] { return main_.requested() || steady::now() >= swapped + drain_; };
  std::thread jobs([&] { services_.jobs.end_jobs_of(old, swapped + drain_ / 2, time_is_up); });
  const auto cut = services_.server.end_requests_of(old, time_is_up);
  jobs.join();
  // A driver stays in use as long as another module holds it.
  const auto ends = swap->end_leaving(std::max(swapped + drain_, steady::now() + short_patience));

  const auto ms = [](auto d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d).count(); };
  json::array left, running, unapplied;
  for (const auto& other : unapplied_settings(fresh)) {
    unapplied.emplace_back(other);
    observe::log(level::warn, "module", "settings of a running module have changed and are not applied",
                 {{"module", other}, {"apply_with", "runyard modules reload " + other}});
  }
  for (const auto& e : ends) {
    left.push_back(described(e));
    record_.record_end(e, left.back().as_object());
    observe::log(level::info, "module", "replaced instance ended",
                 {{"module", e.module},
                  {"instance", std::to_string(e.instance)},
                  {"outcome", std::string(left.back().at("outcome").as_string())}});
  }
  for (const auto& m : modules.describe())
    if (m.instance > before)
      running.push_back(json::object{{"module", m.manifest.name},
                                     {"version", m.manifest.version},
                                     {"instance", m.instance},
                                     {"generation", m.instance}});
  return {200, "application/json",
          json::serialize(json::object{{"module", name},
                                       {"change", word(what)},
                                       {"started", std::move(running)},
                                       {"left", std::move(left)},
                                       {"unapplied_settings", std::move(unapplied)},
                                       {"cut_requests", cut},
                                       {"swap_ms", ms(swapped - begun)},
                                       {"total_ms", ms(steady::now() - begun)}})};
}

}  // namespace ry::app

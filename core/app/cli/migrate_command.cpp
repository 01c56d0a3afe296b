// runyard migrate: applies, lists and forgets migrations.
#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <optional>

#include "core/app/boot/data_dir_lock.hpp"
#include "core/app/boot/host.hpp"
#include "core/app/boot/interface_check.hpp"
#include "core/app/boot/migration_progress.hpp"
#include "core/app/boot/postgres_start.hpp"
#include "core/app/boot/schema_update.hpp"
#include "core/app/boot/settings.hpp"
#include "core/app/cli/commands.hpp"
#include "core/app/config/json_output.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace json = boost::json;
using state = db::migration_step::state;

namespace {

const char* to_string(const db::migration_step& s) {
  switch (s.is) {
    case state::applied:
      return "applied";
    case state::pending:
      return "pending";
    case state::changed:
      return "changed";
    case state::unknown:
      return s.tolerated ? "newer, accepted" : "newer, not accepted";
  }
  return "";
}

json::object described(const db::migration_step& s) {
  json::object o{{"module", s.module}, {"id", s.id}, {"state", to_string(s)}};
  if (!s.applied_at.empty()) o["applied_at"] = s.applied_at;
  return o;
}

json::array described(const std::vector<db::migration_step>& steps) {
  json::array out;
  for (const auto& s : steps) out.push_back(described(s));
  return out;
}

void print_steps(const std::vector<db::migration_step>& steps) {
  const auto count = [&](state which) {
    return std::count_if(steps.begin(), steps.end(), [&](const auto& s) { return s.is == which; });
  };
  for (const auto& s : steps)
    std::printf("%-20s %-32s %s%s%s\n", s.module.c_str(), s.id.c_str(), to_string(s), s.applied_at.empty() ? "" : " ",
                s.applied_at.c_str());
  std::printf("%td pending", count(state::pending));
  if (const auto changed = count(state::changed)) std::printf(", %td changed", changed);
  std::printf("\n");
  std::fflush(stdout);
}

exit_code show_steps(const std::vector<db::migration_step>& steps, format as) {
  if (as == format::json)
    print_json(json::serialize(described(steps)));
  else
    print_steps(steps);
  bool sound = true;
  for (const auto& s : steps) {
    if (s.is == state::changed)
      std::fprintf(
          stderr,
          "migration %s of module %s was changed after it was applied at %s; restore the original text and add a new "
          "migration instead\n",
          s.id.c_str(), s.module.c_str(), s.applied_at.c_str());
    sound = sound && s.is != state::changed;
  }
  return sound ? exit_code::ok : exit_code::failed;
}

// The pending steps of a private database that was never created.
std::vector<db::migration_step> all_pending(const std::vector<module::module_migrations>& all) {
  std::vector<db::migration_step> out;
  for (const auto& m : all)
    for (const auto& step : m.list) out.push_back({m.module, step.id, state::pending, {}});
  return out;
}

exit_code apply_pending(const config::config& c, const db::connect_settings& connect, const module::module_set& modules,
                        const std::vector<module::module_migrations>& all, format as) {
  migration_progress progress({}, [as](const db::migration_step& s) {
    if (as == format::json) return;
    std::printf("%-20s %s\n", s.module.c_str(), s.id.c_str());
    std::fflush(stdout);
  });
  db::migrator migrator(connect);
  const auto report = update_schema(
      migrator, all, c.duration("database.wait_seconds"), [] { return false; }, progress);
  json::array problems;
  for (const auto& p : report.problems) {
    std::fprintf(stderr, "%s: %s\n", p.module.c_str(), p.message.c_str());
    problems.push_back(json::object{{"module", p.module}, {"message", p.message}});
  }
  json::array warnings;
  for (const auto& f : check_sql_interfaces(connect, modules.provided())) {
    std::fprintf(stderr, "warning: %s: %s\n", f.module.c_str(), f.message.c_str());
    warnings.push_back(json::object{{"module", f.module}, {"message", f.message}});
  }
  if (as == format::json)
    print_json(json::serialize(json::object{
        {"applied", described(report.applied)}, {"problems", std::move(problems)}, {"warnings", std::move(warnings)}}));
  else
    std::printf("%zu applied%s\n", report.applied.size(), report.ok() ? "" : ", with problems");
  return report.ok() ? exit_code::ok : exit_code::failed;
}

bool operator_agrees(const std::string& module, const std::string& id) {
  std::fprintf(stderr,
               "This removes the record that migration %s of module %s was applied. The tables stay as they are.\n"
               "A version of the module that has this migration will apply it again, and fails if the migration\n"
               "creates objects that already exist. Type the name of the module to continue: ",
               id.c_str(), module.c_str());
  char line[128] = "";
  if (std::fgets(line, sizeof line, stdin) == nullptr) return false;
  std::string answer = line;
  while (!answer.empty() && (answer.back() == '\n' || answer.back() == ' ')) answer.pop_back();
  return answer == module;
}

}  // namespace

exit_code migrate(const config_options& options, migrate_action action, format as) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  observe::configure_log(log_settings(c));
  std::optional<data_dir_lock> dir_lock;
  const bool is_private = c.text("database.url").empty();
  const bool looks_only = action == migrate_action::status;
  // Listing must not create the database.
  const bool is_made = !is_private || db::embedded_postgres::exists(c.text("data_dir"));
  // The process that holds the data directory owns the private PostgreSQL. Any client may use an external one.
  if (is_private && (is_made || !looks_only)) dir_lock.emplace(c.text("data_dir"));
  module_host w(c, loops_of_a_command);
  if (!w.prepare()) return leave(w, exit_code::refused);
  const auto all = all_migrations(w.modules);
  if (looks_only && !is_made) {
    std::fprintf(stderr, "there is no database in %s yet\n", c.text("data_dir").c_str());
    return show_steps(all_pending(all), as);
  }
  std::optional<postgres_start> own;
  auto connect = db_settings(c).session();
  if (dir_lock) connect = own.emplace(c, *dir_lock).wait().connect;
  if (looks_only) return show_steps(db::migrator(connect).status(all), as);
  return apply_pending(c, connect, w.modules, all, as);
}

exit_code forget_migration(const config_options& options, const forget_options& what) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  observe::configure_log(log_settings(c));
  std::optional<data_dir_lock> dir_lock;
  std::optional<postgres_start> own;
  auto connect = db_settings(c).session();
  if (c.text("database.url").empty()) {
    dir_lock.emplace(c.text("data_dir"));
    connect = own.emplace(c, *dir_lock).wait().connect;
  }
  const auto found = db::migrator(connect).find(what.module, what.number);
  if (found.id.empty()) {
    std::fprintf(stderr, "runyard: %s\n", found.problem.c_str());
    return exit_code::failed;
  }
  if (!what.agreed && !operator_agrees(what.module, found.id)) {
    std::fprintf(stderr, "runyard: nothing was changed\n");
    return exit_code::failed;
  }
  db::migrator(connect).forget(what.module, found.id);
  if (what.as == format::json)
    print_json(json::serialize(json::object{{"forgotten", {{"module", what.module}, {"id", found.id}}}}));
  else
    std::printf("removed the record of migration %s of module %s\n", found.id.c_str(), what.module.c_str());
  return exit_code::ok;
}

}  // namespace ry::app

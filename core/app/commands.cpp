#include "core/app/commands.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <cstdio>
#include <optional>

#include "core/app/deployment_check.hpp"
#include "core/app/instance.hpp"
#include "core/app/loading.hpp"
#include "core/app/places.hpp"
#include "core/app/postgres_start.hpp"
#include "core/app/reference.hpp"
#include "core/app/rooms.hpp"
#include "core/app/schema_update.hpp"
#include "core/app/settings.hpp"
#include "core/auth/authenticator.hpp"
#include "core/module/inspect.hpp"
#include "core/module/library.hpp"
#include "core/module/symbol_versions.hpp"

namespace ry::app {

namespace {

// One loop is enough to create modules.
constexpr std::size_t one_loop = 1;
constexpr long long longest_ttl_s = 10LL * 365 * 86'400;

bool is_uuid(const std::string& text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !std::isxdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  return true;
}

exit_code refuse(const std::string& why) {
  std::fprintf(stderr, "runyard: %s\n", why.c_str());
  return exit_code::refused;
}

const char* to_string(db::migration_step::state s) {
  using state = db::migration_step::state;
  switch (s) {
    case state::applied:
      return "applied";
    case state::pending:
      return "pending";
    case state::changed:
      return "CHANGED";
    case state::unknown:
      return "not in this build";
  }
  return "";
}

exit_code show_steps(const std::vector<db::migration_step>& steps) {
  using state = db::migration_step::state;
  std::size_t pending = 0, changed = 0;
  for (const auto& s : steps) {
    std::printf("%-20s %-32s %s %s\n", s.module.c_str(), s.id.c_str(), to_string(s.is),
                s.applied_at.c_str());
    pending += s.is == state::pending;
    changed += s.is == state::changed;
  }
  std::printf("%zu pending%s\n", pending,
              changed ? (", " + std::to_string(changed) + " changed").c_str() : "");
  std::fflush(stdout);
  for (const auto& s : steps)
    if (s.is == state::changed)
      std::fprintf(stderr,
                   "migration %s of module %s was changed after it was applied at %s; put the old "
                   "text back and add a new migration instead\n",
                   s.id.c_str(), s.module.c_str(), s.applied_at.c_str());
  return changed ? exit_code::failed : exit_code::ok;
}

// Of a private database that was never made.
std::vector<db::migration_step> all_pending(const std::vector<module::module_migrations>& all) {
  std::vector<db::migration_step> out;
  for (const auto& m : all)
    for (const auto& step : m.list)
      out.push_back({m.module, step.id, db::migration_step::state::pending, {}});
  return out;
}

// A check that found nothing to read must not look like one that found all well.
void print_defaults(const config::config& c) {
  std::printf(
      "no configuration file: neither --config nor RUNYARD_CONFIG names one, and there is no %s\n"
      "in force are defaults, the environment and --set:\n",
      default_config_places);
  for (const char* key : {"deployment.mode", "http.listen", "data_dir"})
    std::printf("  %s = \"%s\"\n", key, c.text(key).c_str());
  std::printf("  database.url: %s\n", c.text("database.url").empty()
                                           ? "none, so a private PostgreSQL under data_dir"
                                           : "given");
  std::string paths;
  for (const auto& p : c.module_paths()) paths += (paths.empty() ? "" : ":") + p;
  std::printf("  modules.path = \"%s\"\n(--show tells all of them)\n", paths.c_str());
}

// Of the operator who uses the deployment's key itself instead of an account.
constexpr const char* operator_subject = "00000000-0000-7000-8000-000000000000";

auth::issued sign(config::config& c, const auth::token_request& request) {
  auto settings = auth_settings(c);
  // Signing needs the deployment's own key only, not the keys of identity providers.
  settings.main.jwks_url.clear();
  settings.main.jwks_file.clear();
  settings.issuers.clear();
  settings.data_dir = settings.main.hs256_secret.empty() ? ensure_data_dir(c.text("data_dir"))
                                                    : std::filesystem::path(c.text("data_dir"));
  return auth::authenticator(std::move(settings), {}).mint_token(request);
}

}  // namespace

config::config load_config(const config_options& options) {
  config::sources from{options.file, options.overrides};
  if (from.file.empty()) from.file = default_config_file();
  config::config c(from, config::process_environment(), default_places(executable_dir()));
  if (c.faults().empty()) {
    // What each room would refuse later belongs to the same list.
    (void)http_settings(c);
    check_brand(c);
    check_database(c);
    (void)auth_settings(c);
    (void)egress_settings(c);
    (void)secret_keys(c);
  }
  return c;
}

bool report_faults(const config::config& c) {
  for (const auto& p : c.faults()) std::fprintf(stderr, "%s\n", p.format().c_str());
  if (c.faults().empty()) return true;
  std::fprintf(stderr, "runyard: the configuration has %zu error%s\n", c.faults().size(),
               c.faults().size() == 1 ? "" : "s");
  return false;
}

exit_code check(const config_options& options, listing show) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  observe::configure_log(log_settings(c));
  workshop w(c, one_loop);
  if (!w.prepare()) return leave(w, exit_code::refused);
  if (show == listing::yes) std::fputs(c.listing().c_str(), stdout);
  const auto modules = w.modules.describe();
  const auto created = std::count_if(modules.begin(), modules.end(), [](const auto& m) {
    return m.state == module::module_state::created;
  });
  if (options.file.empty() && default_config_file().empty()) print_defaults(c);
  for (const auto& p : c.unchecked()) std::printf("note: %s\n", p.format().c_str());
  const auto file = options.file.empty() ? default_config_file() : std::filesystem::path(options.file);
  for (const auto& text : deployment_warnings(c, file, present_circumstances()))
    std::printf("warning: %s\n", text.c_str());
  std::printf("configuration and %td module%s: ok\n", created, created == 1 ? "" : "s");
  return leave(w, exit_code::ok);
}

namespace {

std::string served_at(config::config& c) {
  const auto web = http_settings(c);
  return base_url({web.address, web.port}, web.port, !web.tls_cert_file.empty()) + web.base_path;
}

// False: it could not be made; the reason is on standard error.
bool add_token(config::config& c, client::module_request& request) {
  if (!request.token.empty()) return true;
  auth::token_request token;
  token.subject = operator_subject;
  token.role = auth::role::admin;
  token.ttl = std::chrono::minutes(5);
  const auto issued = sign(c, token);
  if (issued.error) std::fprintf(stderr, "runyard: %s\n", issued.error->message.c_str());
  request.token = issued.token;
  return !issued.error;
}

void print_modules(const std::string& whose, const boost::json::array& modules, format as) {
  if (as == format::json) {
    std::fprintf(stderr, "%s\n", whose.c_str());
    std::printf("%s\n", boost::json::serialize(modules).c_str());
  } else {
    std::printf("%s\n%s", whose.c_str(), client::module_list_text(modules).c_str());
  }
}

}  // namespace

exit_code change_module(const config_options& options, client::module_request request) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  observe::configure_log({observe::level::error, false});
  if (request.url.empty()) request.url = served_at(c);
  if (!add_token(c, request)) return exit_code::failed;
  return client::change_module(request);
}

exit_code list_modules(const config_options& options, modules_of which, client::module_request where, format as) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  std::string whose = "what the configuration would load:";
  if (which == modules_of::server_if_any) {
    const bool named = !where.url.empty();
    if (!named) where.url = served_at(c);
    // Only a server that is there is worth a key, which signing makes when there is none.
    if (named || client::is_served(where.url)) {
      observe::configure_log({observe::level::error, false});
      if (!add_token(c, where)) return exit_code::failed;
      const auto loaded = client::loaded_modules(where);
      if (!loaded) {
        std::fprintf(stderr, "runyard: --configured shows what the configuration would load\n");
        return exit_code::failed;
      }
      print_modules("loaded by the server at " + where.url + ":", *loaded, as);
      return exit_code::ok;
    }
    whose = "no server answers at " + where.url + "; " + whose;
  }
  observe::configure_log(log_settings(c));
  workshop w(c, one_loop);
  const bool sound = w.prepare();
  print_modules(whose, boost::json::parse(module::to_json(w.modules.describe())).as_array(), as);
  return leave(w, sound ? exit_code::ok : exit_code::refused);
}

exit_code show_settings(const config_options& options, about what) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  observe::configure_log({observe::level::error, false});
  workshop w(c, one_loop);
  if (!w.prepare()) return leave(w, exit_code::refused);
  // The places of an installation: the reference is the same wherever it is printed.
  const auto host = config::host_schema(default_places("/usr/bin"));
  auto modules = w.modules.describe();
  std::sort(modules.begin(), modules.end(),
            [](const auto& a, const auto& b) { return a.facts.name < b.facts.name; });
  if (what == about::limits) {
    std::string rows = limit_rows(host, "");
    for (const auto& m : modules)
      if (m.state == module::module_state::created && !m.settings_schema.empty())
        rows += limit_rows(boost::json::parse(m.settings_schema), m.facts.name);
    std::printf("%s%s", std::string(limits_heading).c_str(), rows.c_str());
    return leave(w, exit_code::ok);
  }
  std::printf("## The host\n\n%s", settings_table(host, "").c_str());
  for (const auto& m : modules) {
    if (m.state != module::module_state::created) continue;
    std::printf("\n## %s\n\n", m.facts.name.c_str());
    const auto table = m.settings_schema.empty()
                           ? std::string()
                           : settings_table(boost::json::parse(m.settings_schema), m.facts.name);
    std::fputs(table.empty() ? "No settings.\n" : table.c_str(), stdout);
  }
  return leave(w, exit_code::ok);
}

exit_code inspect_file(const std::string& file, format as, inspection how) {
  const auto seen = module::inspect(file);
  if (as == format::json) {
    std::printf("%s\n", module::to_json(seen).c_str());
  } else {
    std::printf("%-10s %s\n", "file", seen.file.c_str());
    if (!seen.sha256.empty()) std::printf("%-10s %s\n", "sha256", seen.sha256.c_str());
    if (seen.facts) {
      const auto& f = *seen.facts;
      std::printf("%-10s %s %s\n", "module", f.name.c_str(), f.version.c_str());
      std::printf("%-10s %u.%u, needs a host of %u.%u or later\n", "abi", f.abi_major, f.abi_minor,
                  f.abi_major, f.min_host_minor);
      for (const auto& n : f.needs)
        std::printf("%-10s %s%s\n", "needs", n.id.c_str(), n.optional ? " (optional)" : "");
      for (const auto& p : f.provides) std::printf("%-10s %s\n", "provides", p.c_str());
    }
    for (const auto& l : seen.libraries) std::printf("%-10s %s\n", "library", l.c_str());
    for (const auto& need : seen.versions)
      for (const auto& list : {module::highest_versions(need.versions),
                               module::versions_without_number(need.versions)})
        for (const auto& v : list)
          std::printf("%-10s %s of %s\n", "requires", v.c_str(), need.library.c_str());
    for (const auto& w : seen.warnings) std::printf("%-10s %s\n", "warning", w.c_str());
  }
  std::string no;
  if (how == inspection::loading) {
    try {
      module::library code(std::make_shared<const module::sealed_image>(file));
      (void)code.descriptor();
      code.pin();
    } catch (const std::runtime_error& e) {
      no = e.what();
    }
    std::printf("%-10s %s\n", "loads", no.empty() ? "yes" : "no");
    std::fflush(stdout);
  }
  for (const auto& p : seen.problems) std::fprintf(stderr, "%s: %s\n", file.c_str(), p.c_str());
  if (!no.empty()) std::fprintf(stderr, "%s: %s\n", file.c_str(), no.c_str());
  return seen.problems.empty() && no.empty() ? exit_code::ok : exit_code::failed;
}

exit_code migrate(const config_options& options, migrate_action action) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  observe::configure_log(log_settings(c));
  std::optional<instance> place;
  const bool is_private = c.text("database.url").empty();
  const bool looks_only = action == migrate_action::status;
  // Looking makes nothing.
  const bool is_made = !is_private || db::embedded_postgres::exists(c.text("data_dir"));
  // A private PostgreSQL belongs to whoever holds the directory; another one is anybody's.
  if (is_private && (is_made || !looks_only)) place.emplace(c.text("data_dir"));
  workshop w(c, one_loop);
  if (!w.prepare()) return leave(w, exit_code::refused);
  if (looks_only && !is_made) {
    std::printf("there is no database below %s yet\n", c.text("data_dir").c_str());
    return show_steps(all_pending(all_migrations(w.modules)));
  }
  std::optional<postgres_start> own;
  auto connect = db_settings(c).session();
  if (place) connect = own.emplace(c, *place).wait().connect;
  const auto all = all_migrations(w.modules);
  if (looks_only) return show_steps(db::migrator(connect).status(all));

  const auto report = update_schema(
      connect, all, c.duration("database.wait_seconds"), [] { return false; },
      [](const db::migration_step& s) {
        std::printf("%-20s %s\n", s.module.c_str(), s.id.c_str());
        std::fflush(stdout);
      });
  for (const auto& p : report.problems)
    std::fprintf(stderr, "%s: %s\n", p.module.c_str(), p.message.c_str());
  std::printf("%zu applied%s\n", report.applied.size(), report.ok() ? "" : ", with problems");
  return report.ok() ? exit_code::ok : exit_code::failed;
}

exit_code mint_token(const config_options& options, const token_options& token) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  observe::configure_log({observe::level::error, false});
  if (!is_uuid(token.subject)) return refuse("--subject must be a UUID");
  if (token.ttl_seconds <= 0 || token.ttl_seconds > longest_ttl_s)
    return refuse("--ttl must be a number of seconds, at most ten years");
  auth::token_request request;
  request.subject = token.subject;
  request.email = token.email;
  if (token.role == "admin")
    request.role = auth::role::admin;
  else if (token.role == "super_admin")
    request.role = auth::role::super_admin;
  else if (token.role != "user")
    return refuse("--role must be user, admin or super_admin");
  request.ttl = std::chrono::seconds(token.ttl_seconds);

  const auto issued = sign(c, request);
  if (issued.error) {
    std::fprintf(stderr, "runyard: %s\n", issued.error->message.c_str());
    return exit_code::failed;
  }
  std::printf("%s\n", issued.token.c_str());
  return exit_code::ok;
}

}  // namespace ry::app

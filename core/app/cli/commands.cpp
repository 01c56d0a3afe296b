#include "core/app/cli/commands.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <ry/cpp/utf8.hpp>

#include "core/app/boot/data_dir_lock.hpp"
#include "core/app/boot/deployment_check.hpp"
#include "core/app/boot/host.hpp"
#include "core/app/boot/loading.hpp"
#include "core/app/boot/paths.hpp"
#include "core/app/boot/settings.hpp"
#include "core/app/config/json_output.hpp"
#include "core/app/devkit/module_command.hpp"
#include "core/app/devkit/settings_reference.hpp"
#include "core/auth/authenticator.hpp"
#include "core/module/inspect.hpp"
#include "core/module/library.hpp"
#include "core/module/symbol_versions.hpp"

namespace ry::app {

namespace {

// Creating modules needs no more than one loop.
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

// A check that found no configuration file must not look like one that found no faults.
void print_defaults(const config::config& c) {
  std::printf(
      "no configuration file: neither --config nor RUNYARD_CONFIG names one, and there is no %s\n"
      "The server uses the defaults, the environment and --set:\n",
      default_config_places);
  for (const char* key : {"deployment.mode", "http.listen", "data_dir"})
    std::printf("  %s = \"%s\"\n", key, c.text(key).c_str());
  std::printf("  database.url: %s\n",
              c.text("database.url").empty() ? "not set, so a private PostgreSQL in data_dir" : "set");
  std::string paths;
  for (const auto& p : c.module_paths()) paths += (paths.empty() ? "" : ":") + p;
  std::printf("  modules.path = \"%s\"\n(--show prints all settings)\n", paths.c_str());
}

// The subject of tokens for an operator without an account, signed with the deployment's key.
constexpr const char* operator_subject = "00000000-0000-7000-8000-000000000000";

auth::issued sign(config::config& c, const auth::token_request& request) {
  auto settings = auth_settings(c);
  // Signing needs only the deployment's own key, not the keys of identity providers.
  settings.main.jwks_url.clear();
  settings.main.jwks_file.clear();
  settings.issuers.clear();
  settings.data_dir = settings.main.hs256_secret.empty() ? ensure_data_dir(c.text("data_dir"))
                                                         : std::filesystem::path(c.text("data_dir"));
  return auth::authenticator(std::move(settings), {}).mint_token(request);
}

struct check_report {
  bool ok = false;
  std::ptrdiff_t modules = 0;
  std::vector<std::string> faults, notes, warnings;
  boost::json::value mail;  // null: not checked
};

void print(const check_report& r, format as) {
  namespace json = boost::json;
  if (as == format::json) {
    const auto list = [](const std::vector<std::string>& lines) { return json::array(lines.begin(), lines.end()); };
    json::object o{{"ok", r.ok},
                   {"modules", r.modules},
                   {"faults", list(r.faults)},
                   {"notes", list(r.notes)},
                   {"warnings", list(r.warnings)}};
    if (!r.mail.is_null()) o["mail"] = r.mail;
    print_json(json::serialize(o));
    return;
  }
  for (const auto& line : r.notes) std::printf("note: %s\n", line.c_str());
  for (const auto& line : r.warnings) std::printf("warning: %s\n", line.c_str());
  if (r.ok) std::printf("configuration and %td module%s: ok\n", r.modules, r.modules == 1 ? "" : "s");
}

// Checks the configuration and the modules. Prints the report, except as JSON if the mail check's findings are still
// to be added.
exit_code check_configuration(const config_options& options, listing show, format as, bool mail_follows,
                              check_report& report) {
  auto c = load_config(options);
  // The faults of the configuration come first: they may be the cause of the others.
  const auto refuse = [&](std::vector<std::string> of_modules = {}) {
    for (const auto& p : c.faults()) report.faults.push_back(p.format());
    for (auto& text : of_modules) report.faults.push_back(std::move(text));
    if (as == format::json) print(report, as);
    return exit_code::refused;
  };
  if (!report_faults(c)) return refuse();
  observe::configure_log(log_settings(c));
  module_host w(c, loops_of_a_command);
  if (!w.prepare()) {
    std::vector<std::string> reasons;
    for (const auto& m : w.modules.describe())
      if (m.state == module::module_state::refused) reasons.push_back(m.reason);
    return leave(w, refuse(std::move(reasons)));
  }
  if (show == listing::yes && as == format::text) std::fputs(c.listing().c_str(), stdout);
  const auto modules = w.modules.describe();
  report.modules = std::count_if(modules.begin(), modules.end(),
                                 [](const auto& m) { return m.state == module::module_state::created; });
  const auto file = options.file.empty() ? default_config_file() : std::filesystem::path(options.file);
  if (file.empty() && as == format::text) print_defaults(c);
  for (const auto& p : c.unchecked()) report.notes.push_back(p.format());
  for (const auto& p : c.warnings()) report.warnings.push_back(p.format() + " (ignored)");
  for (auto& text : deployment_warnings(c, file, present_circumstances())) report.warnings.push_back(std::move(text));
  report.ok = true;
  if (as == format::text || !mail_follows) print(report, as);
  // A module that does not end also ends the process here.
  return leave(w, exit_code::ok);
}

// Adds the mail check's findings to the report as a member; as text, they follow the report.
exit_code add_mail(const config_options& options, const mail_check_options& mail, check_report& report) {
  if (mail.as == format::text) return check_mail(options, mail, nullptr);
  std::string text;
  const auto code = check_mail(options, mail, &text);
  boost::json::error_code ec;
  const auto findings = boost::json::parse(text, ec);
  if (!ec && findings.is_object() && findings.get_object().contains("mail"))
    report.mail = findings.get_object().at("mail");
  report.ok = code == exit_code::ok;
  return code;
}

}  // namespace

exit_code check(const config_options& options, listing show, format as, const mail_check_options* mail) {
  check_report report;
  auto code = check_configuration(options, show, as, mail != nullptr, report);
  if (!mail || code != exit_code::ok) return code;
  code = add_mail(options, *mail, report);
  if (as == format::json) print(report, as);
  return code;
}

namespace {

std::string served_at(config::config& c) {
  const auto web = http_settings(c);
  return base_url({web.address, web.port}, web.port, !web.tls_cert_file.empty()) + web.base_path;
}

// Certificates do not name the address that a server listens on, so the client compares the server's key with the
// configured one.
void ask_own_server(config::config& c, client::module_request& request) {
  request.url = served_at(c);
  const auto cert = c.text("http.tls.cert");
  if (!cert.empty() && request.trust.ca_file.empty()) request.trust.pinned_key = client::pin_of(cert);
}

// Returns false if no token could be made; the reason is on standard error.
bool add_token(config::config& c, client::module_request& request) {
  request.token_source = "--token";
  if (!request.token.empty()) return true;
  // A server other than this configuration's may use another key.
  const char* given = std::getenv("RUNYARD_TOKEN");
  if (given && *given && request.url != served_at(c)) {
    request.token = given;
    request.token_source = "$RUNYARD_TOKEN";
    return true;
  }
  request.token_source = "the key of this deployment";
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
    print_json(boost::json::serialize(modules));
  } else {
    std::printf("%s\n%s", whose.c_str(), client::module_list_text(modules).c_str());
  }
}

}  // namespace

exit_code change_module(const config_options& options, client::module_request request) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  observe::configure_log({observe::level::error, false});
  if (request.url.empty()) ask_own_server(c, request);
  if (!add_token(c, request)) return exit_code::failed;
  return client::change_module(request);
}

exit_code list_modules(const config_options& options, modules_of which, client::module_request where, format as) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  std::string whose = "modules that the configuration would load:";
  if (which == modules_of::server_if_any) {
    const bool named = !where.url.empty();
    if (!named) ask_own_server(c, where);
    // Checks first that a server responds, because signing creates a key if there is none.
    if (named || client::is_served(where)) {
      observe::configure_log({observe::level::error, false});
      if (!add_token(c, where)) return exit_code::failed;
      const auto loaded = client::loaded_modules(where);
      if (!loaded) {
        std::fprintf(stderr, "runyard: --configured shows the modules that the configuration would load\n");
        return exit_code::failed;
      }
      print_modules("loaded by the server at " + where.url + ":", *loaded, as);
      return exit_code::ok;
    }
    whose = "no server responds at " + where.url + "; " + whose;
  }
  observe::configure_log(log_settings(c));
  module_host w(c, loops_of_a_command);
  const bool sound = w.prepare();
  print_modules(whose, boost::json::parse(module::to_json(w.modules.describe())).as_array(), as);
  return leave(w, sound ? exit_code::ok : exit_code::refused);
}

namespace {

// The schema of the whole configuration: the host's tables and one table per module.
boost::json::object config_schema(boost::json::value host, const std::vector<module::module_description>& modules) {
  auto all = host.as_object();
  auto& properties = all["properties"].as_object();
  for (const auto& m : modules)
    if (m.state == module::module_state::created && !m.settings_schema.empty())
      properties[m.manifest.name] = boost::json::parse(m.settings_schema);
  all["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  all["type"] = "object";
  return all;
}

}  // namespace

exit_code show_settings(const config_options& options, about what, format as) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  observe::configure_log({observe::level::error, false});
  module_host w(c, loops_of_a_command);
  if (!w.prepare()) return leave(w, exit_code::refused);
  // The paths of an installation, so that the reference does not depend on where it is generated.
  const auto host = config::host_schema(default_paths("/usr/bin"));
  auto modules = w.modules.describe();
  std::sort(modules.begin(), modules.end(),
            [](const auto& a, const auto& b) { return a.manifest.name < b.manifest.name; });
  if (as == format::json) {
    print_json(boost::json::serialize(config_schema(host, modules)));
    return leave(w, exit_code::ok);
  }
  if (what == about::limits) {
    std::string rows = limit_rows(host, "");
    for (const auto& m : modules)
      if (m.state == module::module_state::created && !m.settings_schema.empty())
        rows += limit_rows(boost::json::parse(m.settings_schema), m.manifest.name);
    std::printf("%s%s", std::string(limits_heading).c_str(), rows.c_str());
    return leave(w, exit_code::ok);
  }
  std::printf("## The host\n\n%s", settings_table(host, "").c_str());
  for (const auto& m : modules) {
    if (m.state != module::module_state::created) continue;
    std::printf("\n## %s\n\n", m.manifest.name.c_str());
    const auto table = m.settings_schema.empty()
                           ? std::string()
                           : settings_table(boost::json::parse(m.settings_schema), m.manifest.name);
    std::fputs(table.empty() ? "No settings.\n" : table.c_str(), stdout);
  }
  return leave(w, exit_code::ok);
}

exit_code inspect_file(const std::string& file, format as, inspection how) {
  const auto seen = module::inspect(file);
  if (as == format::json) {
    print_json(module::to_json(seen));
  } else {
    std::printf("%-10s %s\n", "file", seen.file.c_str());
    if (!seen.sha256.empty()) std::printf("%-10s %s\n", "sha256", seen.sha256.c_str());
    if (seen.manifest) {
      const auto& f = *seen.manifest;
      std::printf("%-10s %s %s\n", "module", f.name.c_str(), f.version.c_str());
      std::printf("%-10s %u.%u, needs a host of %u.%u or later\n", "abi", f.abi_major, f.abi_minor, f.abi_major,
                  f.min_host_minor);
      for (const auto& n : f.needs) std::printf("%-10s %s%s\n", "needs", n.id.c_str(), n.optional ? " (optional)" : "");
      for (const auto& p : f.provides) std::printf("%-10s %s\n", "provides", p.c_str());
    }
    for (const auto& l : seen.libraries) std::printf("%-10s %s\n", "library", l.c_str());
    for (const auto& need : seen.versions)
      for (const auto& list : {module::highest_versions(need.versions), module::versions_without_number(need.versions)})
        for (const auto& v : list) std::printf("%-10s %s of %s\n", "requires", v.c_str(), need.library.c_str());
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

exit_code mint_token(const config_options& options, const token_options& token) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  observe::configure_log({observe::level::error, false});
  if (!is_uuid(token.subject)) return refuse("--subject must be a UUID");
  if (!is_utf8(token.email)) return refuse("--email must be UTF-8");
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
  if (token.as == format::json)
    print_json(boost::json::serialize(boost::json::object{
        {"token", issued.token}, {"subject", token.subject}, {"role", token.role}, {"expires_in", token.ttl_seconds}}));
  else
    std::printf("%s\n", issued.token.c_str());
  return exit_code::ok;
}

}  // namespace ry::app

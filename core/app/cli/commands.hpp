// The implementation of each subcommand. Commands print human-readable text to standard output, and the reason of a
// failure to standard error.
#pragma once

#include <string>
#include <vector>

#include "core/app/boot/load_config.hpp"
#include "core/app/client/module_client.hpp"
#include "core/app/config/exit_code.hpp"

namespace ry::app {

struct mail_check_options;

exit_code serve(const config_options& options);

enum class listing { no, yes };
// format::json: one object with "ok", "faults", "notes", "warnings" and "modules" on standard output. If `mail` is
// given, the relay and the DNS records are also checked, and the object has "mail".
exit_code check(const config_options& options, listing show, format as, const mail_check_options* mail);

// Empty url: the address on which the configuration lets the server listen. Empty token: a token is signed with the
// deployment's own key.
exit_code change_module(const config_options& options, client::module_request request);

// Lists the modules that a running server has loaded, or those that the configuration would load. The first line states
// which of the two; with format::json it is written to standard error. Only url and token of `where` are used, as in
// change_module().
enum class modules_of {
  server_if_any,  // the configuration if no server listens at its address, unless `where` has a url
  configuration,
};
exit_code list_modules(const config_options& options, modules_of which, client::module_request where, format as);

// Prints all settings of the host and the enabled modules as Markdown, or only those that limit a resource; with
// format::json, the JSON Schema of the configuration.
enum class about { settings, limits };
exit_code show_settings(const config_options& options, about what, format as);

enum class inspection { reading, loading };
exit_code inspect_file(const std::string& file, format as, inspection how);

enum class migrate_action { up, status };
exit_code migrate(const config_options& options, migrate_action action, format as);

// Removes the record of one applied migration after the operator has confirmed.
struct forget_options {
  std::string module, number;
  bool agreed = false;  // do not ask for confirmation
  format as = format::text;
};
exit_code forget_migration(const config_options& options, const forget_options& what);

struct token_options {
  std::string subject, email, role = "user";
  long long ttl_seconds = 86'400;
  format as = format::text;
};
exit_code mint_token(const config_options& options, const token_options& token);

}  // namespace ry::app

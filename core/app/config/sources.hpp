// Where settings come from: TOML files, the environment, the command line. Later sources win.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/app/config/tree.hpp"

namespace ry::app::config {

// Names and values of the process environment, or of a test.
using environment = std::map<std::string, std::string, std::less<>>;
environment process_environment();

// Parses one TOML text; `name` stands in positions. ${NAME} and ${NAME:-default} in string values
// are replaced from `env`; "$${" is a literal "${". Everything wrong is added to `out`; what could
// be read is returned.
node parse_toml(std::string_view text, const std::string& name, const environment& env,
                problems& out);

// The host's keys: those at the top, and every one that can be set, as "http.listen".
struct known_keys {
  std::vector<std::string> top, all;
};

// RUNYARD_HTTP__LISTEN=... sets http.listen: "__" separates. A key in the tree of the files is meant whatever its case,
// and "_" stands for any of its characters that is no letter or digit; a key that is not there yet is the variable's
// part in lower case. A variable that can mean several keys is refused. A variable that can name no key is a warning with the one
// that was probably meant: CI systems and container platforms set variables with this prefix, too. Left alone are those of the commands (RUNYARD_CONFIG, RUNYARD_URL,
// RUNYARD_TOKEN) and those that Kubernetes sets for a service called runyard
// (RUNYARD_SERVICE_HOST, RUNYARD_PORT_80_TCP).
void apply_environment(node& tree, const environment& env, const known_keys& known, problems& out);

// One `--set key=value`.
void apply_override(node& tree, std::string_view assignment, problems& out);

struct sources {
  std::filesystem::path file;          // empty: no file at all
  std::vector<std::string> overrides;  // key=value
};
// Reads the file, its modules.d/*.toml in order of their names, the environment and the overrides.
node read(const sources& from, const environment& env, const known_keys& known, problems& out);

}  // namespace ry::app::config

// Reads settings from TOML files, the environment and the command line. Later sources take precedence.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/app/config/tree.hpp"

namespace ry::app::config {

// Names and values of the process environment; a test passes its own.
using environment = std::map<std::string, std::string, std::less<>>;
environment process_environment();

// Parses one TOML text; `name` is the file name in positions. Replaces ${NAME} and ${NAME:-default} in string values
// from `env`; "$${" is a literal "${". Adds all faults to `out` and returns what could be read.
node parse_toml(std::string_view text, const std::string& name, const environment& env, problems& out);

// The host's keys: the top-level ones, and every setting's full name, as "http.listen".
struct known_keys {
  std::vector<std::string> top, all;
};

// RUNYARD_HTTP__LISTEN=... sets http.listen: "__" separates. A variable's part matches a key of the files regardless
// of case, and "_" matches any character of the key that is not a letter or digit. A key that does not exist yet is
// the variable's part in lower case. A variable that matches several keys is refused. A variable that can name no
// key is a warning with the most similar key, because CI systems and container platforms also set variables with
// this prefix. Ignored are those of the commands (RUNYARD_CONFIG, RUNYARD_URL, RUNYARD_TOKEN) and those that
// Kubernetes sets for a service called runyard (RUNYARD_SERVICE_HOST, RUNYARD_PORT_80_TCP).
void apply_environment(node& tree, const environment& env, const known_keys& known, problems& out);

// Applies one `--set key=value`.
void apply_override(node& tree, std::string_view assignment, problems& out);

struct sources {
  std::filesystem::path file;  // empty: no file
  std::vector<std::string> overrides;  // key=value
};
// Reads the file, its modules.d/*.toml in the order of their names, the environment and the overrides.
node read(const sources& from, const environment& env, const known_keys& known, problems& out);

}  // namespace ry::app::config

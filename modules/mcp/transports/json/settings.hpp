// Settings that decide which programs a configuration may start, and how. No I/O except for resolving links in paths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ry {
class settings_faults;
}

namespace mcp_json {

struct settings {
  std::vector<std::string> allowed_commands, allowed_env;
  bool any_command = false;  // allow_any_command, in local mode only
  std::string sandbox;       // name of the driver; empty: programs run as they are
  bool network = true;       // in the sandbox
  std::vector<std::string> readable, writable;  // places of the host that it shows
  std::uint64_t memory_bytes = 0, processes = 0, open_files = 0, file_bytes = 0, scratch_bytes = 0, wall_ms = 0;
  // Of packages that package runners download: of one account, of all; how long they are used.
  std::uint64_t cache_bytes = 0, all_cache_bytes = 0, cache_life_s = 0;
  std::size_t most_children = 0, most_per_account = 0;
  std::string path, directory;
};
// `private_paths`: the server's own paths, one per line. Adds invalid settings to `faults`.
settings read_settings(std::string_view json, std::string_view mode, std::string_view private_paths,
                       ry::settings_faults& faults);

struct command {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
};
// Reads {"command", "args", "env"}. Throws ry::error RY_INVALID_ARGUMENT.
command read_command(std::string_view config_json);

// An entry without a slash allows the program of that name, found in PATH; one with slashes that file
// exactly; one with further words ("npx -y @scope/server") these words as the beginning of the line.
bool allowed(const settings& s, const command& c);
// Variables with which a package runner keeps what it downloads in that directory; empty: the command is none that is known.
std::vector<std::pair<std::string, std::string>> cache_variables(const command& c, const std::string& directory);

// The setting that stopped a program, as far as its end tells; empty: none. why: as in ry.process/1 and sandbox.driver/1;
// errors: the end of its standard error.
std::string limit_reached(const settings& s, bool sandboxed, std::int32_t code, std::int32_t why, std::string_view errors);
// True if the sandbox ended the program because the whole machine is short of disk space or memory.
bool server_is_short(std::string_view errors);

// The first variable of the environment that the operator did not allow; empty: none. Where every command is
// allowed every variable is that read_command() takes; where commands are listed so are variables, because a
// package runner or an interpreter is easily told by its environment to run something else.
std::string refused_variable(const settings& s, const command& c);

}  // namespace mcp_json

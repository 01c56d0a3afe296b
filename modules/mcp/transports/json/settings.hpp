// Settings that determine which programs a configuration may start, and how. No I/O except to resolve links in paths.
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
  bool any_command = false;  // allow_any_command, only in local mode
  std::string sandbox;  // name of the driver; empty: programs run without a sandbox
  bool network = true;  // in the sandbox
  std::vector<std::string> readable, writable;  // host paths that are visible in the sandbox
  std::uint64_t memory_bytes = 0, processes = 0, open_files = 0, file_bytes = 0, scratch_bytes = 0, wall_ms = 0;
  // Limits of the package cache: per account, in total; lifetime.
  std::uint64_t cache_bytes = 0, total_cache_bytes = 0, cache_lifetime_s = 0;
  std::size_t max_children = 0, max_per_account = 0;
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

// Whether the list of allowed commands matches. An entry without a slash allows the program of that name in PATH; an
// entry with a slash allows exactly that file; further words ("npx -y @scope/server") must match the start of the
// command line.
bool allowed(const settings& s, const command& c);
// Variables that make a package runner store its downloads in that directory; empty: not a known package runner.
std::vector<std::pair<std::string, std::string>> cache_variables(const command& c, const std::string& directory);

// The setting whose limit terminated a program, as far as its exit shows; empty: none. reason: as in ry.process/1 and
// sandbox.driver/1; errors: the end of its standard error.
std::string limit_reached(const settings& s, bool sandboxed, std::int32_t code, std::int32_t reason,
                          std::string_view errors);
// Whether the sandbox terminated the program because the machine is short of disk space or memory.
bool machine_is_short_of_resources(std::string_view errors);

// The first environment variable that the operator does not allow; empty: none. If every command is allowed, so is
// every variable that read_command() accepts. If commands are listed, variables must be listed too, because the
// environment can make a package runner or an interpreter run something else.
std::string disallowed_variable(const settings& s, const command& c);

}  // namespace mcp_json

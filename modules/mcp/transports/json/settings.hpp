// What a configuration may start, and how. Without I/O.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcp_json {

struct settings {
  std::vector<std::string> allowed_commands, allowed_env;
  bool any_command = false;  // in local mode only
  std::string sandbox;       // name of the driver; empty: programs run as they are
  bool network = true;       // in the sandbox
  std::vector<std::string> readable, writable;  // places of the host that it shows
  std::uint64_t memory_bytes = 0, open_files = 0, file_bytes = 0, wall_ms = 0;
  std::size_t most_children = 0, most_per_account = 0;
  std::string path, directory;
};
settings read_settings(std::string_view json, std::string_view mode);

struct command {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
};
// Reads {"command", "args", "env"}. Throws ry::error RY_INVALID_ARGUMENT.
command read_command(std::string_view config_json);

// An entry without a slash allows the program of that name, found in PATH; one with slashes that file
// exactly; one with further words ("npx -y @scope/server") these words as the beginning of the line.
bool allowed(const settings& s, const command& c);
// The first variable of the environment that the operator did not allow; empty: none. Where every command is
// allowed every variable is that read_command() takes; where commands are listed so are variables, because a
// package runner or an interpreter is easily told by its environment to run something else.
std::string refused_variable(const settings& s, const command& c);

}  // namespace mcp_json

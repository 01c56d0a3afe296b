// Warnings about a valid but insecure configuration. `runyard check` prints them; the server logs them at start.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/app/config/config.hpp"

namespace ry::app {

// The environment of the process; a test passes its own.
struct process_circumstances {
  bool is_root = false;
  bool in_container = false;
  // The privileges that would let an attacker who controls the server control the machine.
  std::vector<std::string> capabilities;  // such as CAP_SYS_ADMIN
  std::vector<std::string> groups;  // such as docker
};
process_circumstances present_circumstances();

// One warning per entry. `file`: path of the configuration file, or empty. A module's settings are included only
// after its schema was applied.
std::vector<std::string> deployment_warnings(const config::config& c, const std::filesystem::path& file,
                                             process_circumstances now);

}  // namespace ry::app

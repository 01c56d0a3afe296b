// What is set in a way that works and is dangerous all the same: told by `runyard check` and at the start.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/app/config/config.hpp"

namespace ry::app {

// The process and its surroundings, as a test may have them.
struct process_circumstances {
  bool is_root = false;
  bool in_container = false;
};
process_circumstances present_circumstances();

// One sentence each. `file`: the configuration's, or empty. Modules' settings count as far as they were checked.
std::vector<std::string> deployment_warnings(const config::config& c, const std::filesystem::path& file,
                                             process_circumstances now);

}  // namespace ry::app

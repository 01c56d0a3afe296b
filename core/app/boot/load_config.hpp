// Loads the configuration for a command, and reports its faults.
#pragma once

#include <string>
#include <vector>

#include "core/app/config/config.hpp"

namespace ry::app {

// --config and --set of the commands that read the configuration.
struct config_options {
  std::string file;  // empty: see default_config_file()
  std::vector<std::string> overrides;
};

enum class format { text, json };

// Reads the configuration and validates the host's part.
config::config load_config(const config_options& options);
// Prints the faults to standard error; returns true if there are none.
bool report_faults(const config::config& c);

}  // namespace ry::app

// Default paths, relative to the executable: in a build tree or as installed.
#pragma once

#include <filesystem>

#include "core/app/config/host_schema.hpp"

namespace ry::app {

// The directory of this executable.
std::filesystem::path executable_dir();

// Defaults of modules.path and data_dir.
config::defaults default_paths(const std::filesystem::path& executable_dir);

// The file to read without --config: $RUNYARD_CONFIG, ./conf/runyard.toml, /etc/runyard/runyard.toml. Empty if none
// exists.
std::filesystem::path default_config_file();
inline constexpr const char* default_config_places = "conf/runyard.toml or /etc/runyard/runyard.toml";

}  // namespace ry::app

// Where things are, seen from the executable: beside a build's bin/, or as installed.
#pragma once

#include <filesystem>

#include "core/app/config/host_schema.hpp"

namespace ry::app {

// The directory of this executable.
std::filesystem::path executable_dir();

// modules.path and data_dir when the configuration does not say.
config::defaults default_places(const std::filesystem::path& executable_dir);

// The file to read without --config: $RUNYARD_CONFIG, ./conf/runyard.toml,
// /etc/runyard/runyard.toml. Empty: there is none.
std::filesystem::path default_config_file();
inline constexpr const char* default_config_places =
    "conf/runyard.toml or /etc/runyard/runyard.toml";

}  // namespace ry::app

// What of this machine's file system belongs to the server alone: programs that it starts for others must not see it.
#pragma once

#include <string>

#include "core/app/config/config.hpp"

namespace ry::app {

// Absolute paths, one per line: data_dir, the configuration, files with keys. Of a configuration in /etc its whole
// directory, of any other the file and modules.d beside it, as a home directory may hold it.
std::string private_paths(const config::config& c);

}  // namespace ry::app

// Paths that only the server may read. Programs that it starts for users must not see them.
#pragma once

#include <string>

#include "core/app/config/config.hpp"

namespace ry::app {

// Absolute paths, one per line: data_dir, the configuration and key files. If the configuration is below /etc, its
// whole directory is listed; elsewhere only the file and modules.d next to it, because the directory may be a home
// directory.
std::string private_paths(const config::config& c);

}  // namespace ry::app

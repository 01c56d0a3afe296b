// Paths of the host that no command may access, even if one of its host paths contains them: data and configuration of
// the server, and credentials in home directories. The sandbox mounts an empty directory or file over each of them.
// All functions block; any thread.
#pragma once
#include <string>
#include <vector>

#include "command_line.hpp"

namespace bubblewrap {

// The existing directories and files with credentials below these home directories.
std::vector<std::string> credentials_in(const std::vector<std::string>& homes);
// The home directories of the server's user and of root, and those in /home.
std::vector<std::string> home_directories();

// Those of the absolute paths `hidden` that are below these host paths, by their names in the sandbox. Both may be
// links, so their targets are compared.
std::vector<hidden_path> hidden_paths_in(const std::vector<host_path>& host_paths,
                                         const std::vector<std::string>& hidden);
// Whether the host path is one of `hidden` or below one, so that it must not be visible at all.
bool is_inside(std::string_view host_path, const std::vector<std::string>& hidden);

}  // namespace bubblewrap

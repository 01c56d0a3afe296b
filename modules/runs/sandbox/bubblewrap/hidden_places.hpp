// Paths of the host that no command may see, even if one of its places contains them: data and configuration of the server, and
// credentials in home directories. The sandbox mounts an empty directory or file over each of them.
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

// The paths of `hidden` (absolute) that these places would show, by their names in the sandbox. Both may be links, so their
// targets are compared.
std::vector<hidden_place> hidden_in(const std::vector<host_place>& places, const std::vector<std::string>& hidden);
// True if the place is one of them or lies below one, so that it must not be shown at all.
bool lies_in(std::string_view place, const std::vector<std::string>& hidden);

}  // namespace bubblewrap

// What no command may see of the host, wherever a place that it is given contains it: the server's own data and
// configuration, and what people keep their credentials in. An empty directory or file lies over each.
// All functions block; any thread.
#pragma once
#include <string>
#include <vector>

#include "command_line.hpp"

namespace bubblewrap {

// Directories and files of credentials below these home directories, as far as they are there.
std::vector<std::string> credentials_in(const std::vector<std::string>& homes);
// The server's user's, root's and those in /home.
std::vector<std::string> home_directories();

// What of `hidden` (absolute paths) these places show, under the names that it has in the sandbox. A place may be a
// link, so both are compared as what they resolve to.
std::vector<hidden_place> hidden_in(const std::vector<host_place>& places, const std::vector<std::string>& hidden);
// True when the place lies in one of them, so that it is not to be shown at all.
bool lies_in(std::string_view place, const std::vector<std::string>& hidden);

}  // namespace bubblewrap

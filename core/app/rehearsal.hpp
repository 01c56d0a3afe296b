// A short life of a module in another process: one that crashes, ends its process or hangs while it is loaded, created or
// destroyed does so there.
#pragma once

#include <memory>
#include <string>

#include "core/app/exit_code.hpp"
#include "core/module/module_set.hpp"

namespace ry::app {

// `path` as given to the dynamic loader, readable by other processes of this user. Each step waits ten seconds at most.
// The process ends with the object, and with the thread that called this. [any]
std::unique_ptr<module::rehearsal> rehearse(const std::string& path);

// What that process does: `runyard rehearse PATH`. Its steps are told on standard output; what create() gets is read from
// standard input. Ends the process when all went its way.
exit_code take_part_in_rehearsal(const std::string& path);

}  // namespace ry::app

// The preflight of a module: it is loaded, created and destroyed in a separate process, so that a crash, an exit or
// a hang does not affect the server.
#pragma once

#include <memory>
#include <string>

#include "core/module/module_set.hpp"

namespace ry::app {

// `path` is as passed to the dynamic loader, and readable by other processes of this user. Each step may take ten
// seconds at most. The process ends with the object, and with the thread that called this. [any]
std::unique_ptr<module::preflight> run_preflight(const std::string& path);

}  // namespace ry::app

// The process of a preflight, which loads, creates and destroys the module.
#pragma once

#include <string>

#include "core/app/config/exit_code.hpp"

namespace ry::app {

// The separate process: `runyard run_preflight PATH`. Reports its steps on standard output and reads the input of
// create() from standard input. Ends the process if all steps succeed.
exit_code serve_preflight(const std::string& path);

}  // namespace ry::app

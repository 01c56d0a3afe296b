// Determines from the configuration which modules to load, with their files and settings, and reports problems.
#pragma once

#include <string>
#include <vector>

#include "core/app/config/config.hpp"
#include "core/module/module_set.hpp"

namespace ry::app {

struct found_modules {
  std::vector<module::module_spec> specs;  // including disabled ones: another module may need them
  std::vector<std::string> names;  // of every file, enabled or not; NAME.so is module NAME
};
// Searches modules.path; the first file of a name wins. An enabled module without a file is added to the
// configuration's faults.
found_modules find_modules(config::config& c);

// Passes each module its checked settings; faults are added to the configuration. `c` must outlive the set.
module::set_options module_options(config::config& c);

// The destination of report_modules().
enum class report_target {
  standard_error,  // every problem on standard error
  log,  // skipped modules as log events; problems that prevent the start on standard error
};
// Reports the problems that prepare() or start() found, except those that report_faults() prints with file and line.
// Problems caused only by another module's problem are combined in one last line.
void report_modules(const module::report& r, report_target target);

}  // namespace ry::app

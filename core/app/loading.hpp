// From the configuration to loaded modules: which files, with which settings, and what is wrong.
#pragma once

#include <string>
#include <vector>

#include "core/app/config/config.hpp"
#include "core/module/module_set.hpp"

namespace ry::app {

struct found_modules {
  std::vector<module::module_spec> specs;  // disabled ones too: they may be what another one misses
  std::vector<std::string> names;          // of every file, enabled or not: NAME.so is module NAME
};
// Looks along modules.path; the first file of a name wins. An enabled module without a file is
// added to the configuration's faults.
found_modules find_modules(config::config& c);

// Hands each module its checked settings; faults go to the configuration. `c` outlives the set.
module::set_options module_options(config::config& c);

// Where report_modules() writes.
enum class report_target {
  standard_error,  // every problem on standard error
  log,             // modules that are left out as log events; problems that prevent the start on standard error
};
// Reports the problems that prepare() or start() found, except those that report_faults() prints with file and line.
// Problems that only follow from another module's problem are one line at the end.
void report_modules(const module::report& r, report_target target);

}  // namespace ry::app

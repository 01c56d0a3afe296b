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

// What prepare() or start() found, but for what report_faults() tells better. What merely follows from another
// module's problem is one line at the end.
enum class told {
  operator_only,  // everything on standard error
  log,            // modules that are left out are events of the log; what prevents a start is on standard error
};
void report_modules(const module::report& r, told where);

}  // namespace ry::app

#include "core/app/boot/load_config.hpp"

#include <cstdio>

#include "core/app/boot/paths.hpp"
#include "core/app/boot/settings.hpp"

namespace ry::app {

config::config load_config(const config_options& options) {
  config::sources from{options.file, options.overrides};
  if (from.file.empty()) from.file = default_config_file();
  config::config c(from, config::process_environment(), default_paths(executable_dir()));
  if (c.faults().empty()) {
    // Adds the faults that the components would only find later to the same list.
    (void)http_settings(c);
    check_brand(c);
    check_database(c);
    (void)auth_settings(c);
    (void)egress_settings(c);
    (void)secret_keys(c);
  }
  return c;
}

bool report_faults(const config::config& c) {
  for (const auto& p : c.faults()) std::fprintf(stderr, "%s\n", p.format().c_str());
  if (c.faults().empty()) return true;
  std::fprintf(stderr, "runyard: the configuration has %zu error%s\n", c.faults().size(),
               c.faults().size() == 1 ? "" : "s");
  return false;
}

}  // namespace ry::app

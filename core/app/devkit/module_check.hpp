// `runyard module check`: tests a module before it is deployed. Each test runs in its own process, with a host
// without a database, so that a crash or a hang fails only that test.
#pragma once

#include <string>
#include <vector>

#include "core/app/boot/load_config.hpp"
#include "core/app/config/exit_code.hpp"

namespace ry::app {

struct module_check {
  std::string file;
  std::vector<std::string> dependencies;  // files of modules that it depends on
  std::string server;  // configuration of a responding server, for transports; JSON
  std::vector<std::string> only;  // names of tests; empty: all
  std::string test;  // run only this test, in this process (used in the child)
  format as = format::text;  // json: one object with "tests", "passed", "failed" and "skipped"
};

// Prints a line for each test, and below a failed test how to fix it. Returns failed if a test failed.
exit_code check_module(const module_check& what);

}  // namespace ry::app

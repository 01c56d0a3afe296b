// `runyard module check`: what an author of a module wants to know before others load it. Each test runs
// in a process of its own, with a host without database; a crash or a hang is one test's failure.
#pragma once

#include <string>
#include <vector>

#include "core/app/commands.hpp"

namespace ry::app {

struct module_check {
  std::string file;
  std::vector<std::string> beside;  // files of modules that it needs
  std::string server;               // configuration of a server that answers, for transports; JSON
  std::vector<std::string> only;    // names of tests; empty: all
  std::string test;                 // run this one here and now: the child's part
  format as = format::text;         // json: one object with "tests", "passed", "failed" and "skipped"
};

// Prints a line for each test, with what to mend under those that fail. failed: one did.
exit_code check_module(const module_check& what);

}  // namespace ry::app

// The command line: subcommands, their options and help.
#pragma once

#include "core/app/config/exit_code.hpp"

namespace ry::app {

// Runs the command that argv names. Catches every exception; the reason of a failure is written to standard error as
// one line.
exit_code run_command_line(int argc, char** argv);

}  // namespace ry::app

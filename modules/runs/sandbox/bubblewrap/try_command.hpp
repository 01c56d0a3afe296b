// Runs a command that does nothing, to test whether the sandbox works.
#pragma once
#include <ry/ry.hpp>
#include <string>

#include "command_runner.hpp"

namespace bubblewrap {

struct command_trial {
  int code = -1;  // 0: the sandbox works; -1: the command did not start or was ended by a signal
  std::string output;  // without line ends at its end
};

// Blocks until the command ended. exec: any executor but the caller's own.
command_trial try_command(command_runner& runner, const std::string& project, ry_exec* exec);

}  // namespace bubblewrap

// Runs a command that does nothing, to test whether the sandbox works.
#pragma once
#include <ry/ry.hpp>
#include <string>

#include "command_runner.hpp"

namespace bubblewrap {

struct command_trial {
  int code = -1;  // 0: the sandbox works; -1: the command did not start or was terminated by a signal
  std::string output;  // without trailing newlines
};

// Blocks until the command has exited. exec: any executor except the caller's.
command_trial try_command(command_runner& runner, const std::string& project, ry_exec* exec);

}  // namespace bubblewrap

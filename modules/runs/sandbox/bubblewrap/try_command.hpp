// Runs a command that only prints a marker, to test whether the sandbox works.
#pragma once
#include <chrono>
#include <ry/ry.hpp>
#include <string>

#include "command_runner.hpp"

namespace bubblewrap {

constexpr std::chrono::seconds trial_limit{10};

struct command_trial {
  int code = -1;  // the exit code or minus the signal; -1 also: the command did not start
  bool timed_out = false;  // terminated after trial_limit
  bool printed_marker = false;  // the standard output was the marker and nothing else
  std::string output;  // without trailing newlines

  bool succeeded() const { return code == 0 && printed_marker; }
};

// Blocks until the command has exited. exec: any executor except the caller's.
command_trial try_command(command_runner& runner, const std::string& project, ry_exec* exec);

}  // namespace bubblewrap

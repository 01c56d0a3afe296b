// Starts one program: new session and process group, pipes, limits, a clean environment, no other
// descriptors but one that the plan may name. Blocks until the program runs or could not be started (some 100 microseconds).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/process/fd.hpp"

namespace ry::process {

struct launch_plan {
  enum class stderr_to { pipe, stdout_pipe };
  enum class outlives { nobody, parent };  // nobody: dies with the thread that started it
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::string cwd = "/";
  stderr_to err = stderr_to::pipe;
  outlives lives = outlives::nobody;
  int third = -1;  // of ours, that the program has as its descriptor 3; -1: none
  std::uint64_t max_processes = 0, cpu_s = 0, memory_bytes = 0, file_bytes = 0, open_files = 0;
};

struct launched {
  enum class failure { none, resources, not_found, not_executable, directory, other };
  failure failed = failure::none;
  std::string message;  // of a failure; one sentence
  pid_t pid = -1;       // also its process group and session
  unique_fd pidfd;
  unique_fd in, out, err;  // our ends, non-blocking; err is empty when it goes to stdout
};

// The caller's thread is the one whose end kills the child, so it must live as long as children do.
// Never throws but std::bad_alloc. [any]
launched launch(const launch_plan& plan);

}  // namespace ry::process

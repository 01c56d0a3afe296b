// Starts one program in a new session and process group, with pipes, resource limits, a clean environment and no other
// descriptors, except one that the plan may specify. Blocks until the program runs or has failed to start (about 100
// microseconds).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/process/fd.hpp"

namespace ry::process {

struct launch_plan {
  enum class stderr_to { pipe, stdout_pipe };
  enum class outlives { none, parent };  // none: dies with the thread that started it
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::string cwd = "/";
  stderr_to err = stderr_to::pipe;
  outlives lives = outlives::none;
  int third = -1;  // our descriptor that the program gets as descriptor 3; -1: none
  std::uint64_t max_processes = 0, cpu_s = 0, memory_bytes = 0, file_bytes = 0, open_files = 0;
};

struct launched {
  enum class failure { none, resources, not_found, not_executable, directory, other };
  failure failed = failure::none;
  std::string message;  // the reason of a failure
  pid_t pid = -1;  // also its process group and session
  unique_fd pidfd;
  unique_fd in, out, err;  // our ends, non-blocking; err is empty when it goes to stdout
};

// The child is killed when the calling thread ends, so that thread must live as long as its children (see outlives).
// Throws only std::bad_alloc. [any]
launched launch(const launch_plan& plan);

}  // namespace ry::process

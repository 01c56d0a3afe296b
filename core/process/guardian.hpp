// Kills the process groups of the host's children when the host dies without warning: the kernel
// ends only the direct child with its parent, not what that child started.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

#include "core/process/fd.hpp"

namespace ry::process {

// Never waits; one thread at a time. It is a shell that reads group numbers from a pipe; the end of
// the pipe is the end of the host. Where there is no shell, watch() says so once in the log and
// does nothing.
class guardian {
 public:
  guardian() = default;
  ~guardian();  // ends the shell; groups still watched are killed
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;

  void watch(pid_t group);
  // Call before the leader is reaped, while its number cannot be taken by another process.
  void forget(pid_t group);

 private:
  void tell(char what, pid_t group);
  bool flush();
  bool start();

  unique_fd pipe_;
  pid_t pid_ = -1;
  bool missing_ = false;
  std::set<pid_t> groups_;
  std::string unsent_;
};

}  // namespace ry::process

// Kills the process groups of the host's children when the host dies without warning: the kernel
// ends only the direct child with its parent, not what that child started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/process/fd.hpp"

namespace ry::process {

// Never waits; one thread at a time. It is a shell that waits for the end of a pipe, which is the
// end of the host, and then reads the groups from a file in memory that both hold. The host writes
// them there in passing: as long as it lives the shell sleeps. Where there is no shell, watch() says
// so once in the log and does nothing.
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
  void start();
  bool ended() const;
  bool grow();

  unique_fd pipe_, file_;
  pid_t pid_ = -1;
  bool missing_ = false;
  std::span<std::uint64_t> lines_;  // the file: a line each, of one group or none
  std::vector<std::size_t> free_;
  std::unordered_map<pid_t, std::size_t> line_of_;
};

}  // namespace ry::process

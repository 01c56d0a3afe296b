// Reaps the process groups of the host's children if the host dies unexpectedly: the kernel kills only the direct
// child with its parent, not the processes which that child started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/process/fd.hpp"

namespace ry::process {

// Never blocks; one thread at a time. The reaper is a shell that waits for end of file on a pipe, which means that
// the host has ended, and then reads the groups from a shared in-memory file. The host writes them there with plain
// stores, so the shell sleeps while the host lives. If there is no shell, watch() logs that once and does nothing.
class reaper {
 public:
  reaper() = default;
  ~reaper();  // ends the shell, which kills the groups still watched
  reaper(const reaper&) = delete;
  reaper& operator=(const reaper&) = delete;

  void watch(pid_t group);
  // Must be called before the leader is reaped, because its pid can be reused afterwards.
  void forget(pid_t group);

 private:
  void start();
  bool ended() const;
  bool grow();

  unique_fd pipe_, file_;
  pid_t pid_ = -1;
  bool missing_ = false;
  std::span<std::uint64_t> lines_;  // the mapped file: each line holds one group or none
  std::vector<std::size_t> free_;
  std::unordered_map<pid_t, std::size_t> line_of_;
};

}  // namespace ry::process

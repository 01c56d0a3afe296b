// Processes of a command, as /proc shows them. Thread: any; the functions block on files of /proc.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bubblewrap {

struct process {
  pid_t id, parent;
};
std::vector<process> all_processes();
// The leader and its descendants.
std::vector<pid_t> family_of(pid_t leader, const std::vector<process>& all);

// Whole content of a file of /proc. Empty when the process ended meanwhile.
std::string text_of(const std::string& path);

// What files of the device take on disk that are open in these processes or mapped by them, but have no name any more.
std::uint64_t unlinked_bytes(const std::vector<pid_t>& family, dev_t device);

// What the processes, and those of theirs that ended, have written to disks so far. 0 where the kernel does not count it.
std::uint64_t written_bytes(const std::vector<pid_t>& family);

}  // namespace bubblewrap

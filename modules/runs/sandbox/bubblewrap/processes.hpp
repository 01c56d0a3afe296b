// Information about the processes of a command, from /proc. Thread: any; the functions block on files of /proc.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bubblewrap {

struct process {
  pid_t id, parent;
};
std::vector<process> all_processes();
// The leader and its descendants.
std::vector<pid_t> process_tree(pid_t leader, const std::vector<process>& all);

// The content of a file of /proc. Empty if the process has exited.
std::string read_proc_file(const std::string& path);

// Maximum number of mappings of a process, and of mappings and descriptors of a command, that are examined: reading
// more would delay the measurement of other commands.
inline constexpr std::size_t max_mappings = 50'000, max_examined = 300'000;

// Disk space of deleted files on the device that these processes keep open or mapped. nullopt: there are more mappings
// or descriptors than the limits above.
std::optional<std::uint64_t> unlinked_bytes(const std::vector<pid_t>& tree, dev_t device);

// Bytes that the processes and their exited children have written to disks so far. 0 if the kernel does not count them.
std::uint64_t written_bytes(const std::vector<pid_t>& tree);

// Upper bound of the memory that the kernel allocates for these processes outside their address spaces: page tables,
// and the default buffer sizes of their sockets and pipes. Descriptors that are being sent over a socket are not
// counted.
std::uint64_t kernel_memory_bound(const std::vector<pid_t>& tree);

// Whether this process may copy descriptors of its commands (pidfd_getfd). If a system call filter denies it, deleted
// files that an undumpable process keeps open are not found.
bool may_copy_descriptors();

}  // namespace bubblewrap

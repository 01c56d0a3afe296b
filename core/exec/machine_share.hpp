// What this process may use of the machine: the cores of its affinity, and what the control groups that it is in
// (containers, systemd's CPUQuota= and MemoryMax=) leave of them and of the memory.
//
// Thread: any. Errors: a file that cannot be read or understood sets no limit. Source: cgroups(7), version 1 and 2.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace ry::exec {

struct group_limits {
  std::optional<double> cores;
  std::optional<std::uint64_t> memory_bytes;
};

// The tightest of the groups and all above them. root: of the file system.
group_limits limits_of_groups(const std::filesystem::path& root = "/");

// At least one; a part of a core counts as a whole one, since more loops than that only hand work to each other and
// fewer leave some of it unused. Of the calling thread.
std::size_t usable_cores();

// The machine's, or what the groups allow when that is less.
std::uint64_t usable_memory_bytes();

}  // namespace ry::exec

// The resources that this process may use: the cores of its CPU affinity, and the CPU and memory limits of its cgroups
// (containers, systemd's CPUQuota= and MemoryMax=).
//
// Threads: any. Errors: a file that cannot be read or parsed sets no limit. Reference: cgroups(7), version 1 and 2.
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

// The lowest limits of this process's cgroups and their ancestors. `root`: root of the file system.
group_limits cgroup_limits(const std::filesystem::path& root = "/");

// Cores available to the calling thread, at least one. A fractional quota is rounded up: more loops than that would
// preempt each other, fewer would leave CPU time unused.
std::size_t usable_cores();

// The machine's memory, or the limit of the cgroups if that is lower.
std::uint64_t usable_memory_bytes();

}  // namespace ry::exec

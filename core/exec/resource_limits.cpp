#include "core/exec/resource_limits.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

namespace ry::exec {
namespace {

namespace fs = std::filesystem;

std::optional<double> number_in(const fs::path& file) {
  std::ifstream in(file);
  double n = 0;
  if (in >> n) return n;
  return std::nullopt;
}

template <class T>
void tighten(std::optional<T>& limit, T other) {
  limit = limit ? std::min(*limit, other) : other;
}

// cgroup v1 reports "no limit" as a number near the largest integer.
void tighten_memory(std::optional<std::uint64_t>& limit, const std::optional<double>& bytes) {
  if (bytes && *bytes > 0 && *bytes < 0x1p60) tighten(limit, static_cast<std::uint64_t>(*bytes));
}

void tighten_cores(std::optional<double>& limit, const std::optional<double>& quota,
                   const std::optional<double>& period) {
  if (quota && period && *quota > 0 && *period > 0) tighten(limit, *quota / *period);
}

void read_version_2(const fs::path& group, group_limits& out) {
  std::ifstream in(group / "cpu.max");
  std::optional<double> quota = 0, period = 0;
  if (in >> *quota >> *period) tighten_cores(out.cores, quota, period);
  tighten_memory(out.memory_bytes, number_in(group / "memory.max"));
}

// Calls `into` for each cgroup from `path` up to the root of the hierarchy. A container may see the host's cgroup
// paths, but has only its own cgroup, mounted as that root.
template <class F>
void upwards(const fs::path& hierarchy, std::string path, F into) {
  for (;;) {
    into(hierarchy / fs::path(path).relative_path());
    if (path.empty()) return;
    path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

std::size_t cores_of_affinity() {
  // sched_getaffinity() fails with EINVAL while the set is smaller than the kernel's CPU mask.
  for (std::size_t max_cpus = CPU_SETSIZE; max_cpus <= 1024 * CPU_SETSIZE; max_cpus *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(max_cpus), [](cpu_set_t* s) { CPU_FREE(s); });
    if (!set) break;
    const std::size_t size = CPU_ALLOC_SIZE(max_cpus);
    if (::sched_getaffinity(0, size, set.get()) == 0)
      return static_cast<std::size_t>(std::max(1, CPU_COUNT_S(size, set.get())));
    if (errno != EINVAL) break;
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

group_limits cgroup_limits(const fs::path& root) {
  group_limits out;
  const fs::path mounted = root / "sys/fs/cgroup";
  std::ifstream in(root / "proc/self/cgroup");
  // HIERARCHY:CONTROLLER[,CONTROLLER]...:PATH; the cgroup v2 line names no controllers.
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      upwards(mounted, path, [&](const fs::path& group) { read_version_2(group, out); });
      continue;
    }
    if (controllers.find(",cpu,") != std::string::npos)
      upwards(mounted / "cpu", path, [&](const fs::path& group) {
        tighten_cores(out.cores, number_in(group / "cpu.cfs_quota_us"), number_in(group / "cpu.cfs_period_us"));
      });
    if (controllers.find(",memory,") != std::string::npos)
      upwards(mounted / "memory", path, [&](const fs::path& group) {
        tighten_memory(out.memory_bytes, number_in(group / "memory.limit_in_bytes"));
      });
  }
  return out;
}

std::size_t usable_cores() {
  const std::size_t own = cores_of_affinity();
  const std::optional<double> quota = cgroup_limits().cores;
  if (!quota || *quota >= static_cast<double>(own)) return own;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(*quota)));
}

std::uint64_t usable_memory_bytes() {
  const auto all =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::min(all, cgroup_limits().memory_bytes.value_or(all));
}

}  // namespace ry::exec

// Facts about this system that decide whether bubblewrap works. Blocks on files of /proc; facts that cannot be read remain
// unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"

namespace bubblewrap {

enum class container { none, docker, podman, kubernetes, other };

struct surroundings {
  bool bwrap_exists = true;
  bool bwrap_may_run = true;
  bool is_root = false;  // root of the host, not of a user namespace only
  // Capabilities that root needs to confine a command and does not have, for example "CAP_SYS_ADMIN".
  std::vector<std::string> missing_capabilities;
  bool is_filtered = false;  // a system call filter is on this process
  container in = container::none;
  // kernel.apparmor_restrict_unprivileged_userns; 0 if the kernel has no such setting.
  std::optional<std::uint64_t> apparmor_restricts;
  std::optional<std::uint64_t> userns_clone;  // kernel.unprivileged_userns_clone
  std::optional<std::uint64_t> max_user_namespaces;  // user.max_user_namespaces
};

surroundings read_surroundings(const std::string& bwrap_path);

// The parts of read_surroundings() that read files of the kernel.
std::vector<std::string> missing_capabilities(const std::string& status);  // /proc/self/status
bool is_filtered(const std::string& status);
std::optional<std::uint64_t> apparmor_restriction(const std::string& directory);  // /proc/sys/kernel

const char* name_of(confinement way);

// The ways of confinement that are safe for this user, best first. A command of root must not run in a user namespace:
// outside of it, it would still be root for the files it can reach, and the limit on processes does not apply to root. As root
// the server therefore only runs commands as an unprivileged user of each project. A server that is root of a user namespace
// is an ordinary user outside of it and may do both.
std::vector<confinement> possible_ways();

}  // namespace bubblewrap

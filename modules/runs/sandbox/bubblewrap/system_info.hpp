// Properties of this system that decide whether bubblewrap works. Blocks on files of /proc; values that cannot be read
// remain unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"

namespace bubblewrap {

enum class container { none, docker, podman, kubernetes, other };

struct system_info {
  bool bwrap_exists = true;
  bool bwrap_may_run = true;
  bool is_root = false;  // root of the host, not only of a user namespace
  // Capabilities that root needs to confine a command but does not have, for example "CAP_SYS_ADMIN".
  std::vector<std::string> missing_capabilities;
  bool is_filtered = false;  // this process has a system call filter
  container in = container::none;
  // kernel.apparmor_restrict_unprivileged_userns; 0 if the kernel has no such setting.
  std::optional<std::uint64_t> apparmor_restricts;
  std::optional<std::uint64_t> userns_clone;  // kernel.unprivileged_userns_clone
  std::optional<std::uint64_t> max_user_namespaces;  // user.max_user_namespaces
};

system_info read_system_info(const std::string& bwrap_path);

// The parts of read_system_info() that read files of the kernel.
std::vector<std::string> missing_capabilities(const std::string& status);  // /proc/self/status
bool is_filtered(const std::string& status);
std::optional<std::uint64_t> apparmor_restriction(const std::string& directory);  // /proc/sys/kernel

const char* name_of(confinement mode);

// The confinement modes that are safe for this user, best first. A command of root must not run in a user namespace:
// for files outside the namespace it would still be root, and the limit on processes does not apply to root. As root,
// the server therefore runs commands only as an unprivileged user of each project. A server that is root of a user
// namespace is an ordinary user outside of it and may use both modes.
std::vector<confinement> possible_confinements();

}  // namespace bubblewrap

#include "system_info.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace bubblewrap {
namespace {

std::string contents(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  if (in) out << in.rdbuf();
  return out.str();
}

std::optional<std::uint64_t> number(const char* path) {
  std::uint64_t n = 0;
  std::ifstream in(path);
  if (!(in >> n)) return std::nullopt;
  return n;
}

// The text after `name` in the line of /proc/self/status that begins with it.
std::string line_of(const std::string& status, std::string_view name) {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);)
    if (std::string_view(line).starts_with(name)) return line.substr(name.size());
  return {};
}

bool exists(const char* path) {
  return ::access(path, F_OK) == 0;
}

container container_named(std::string_view text) {
  if (text.find("podman") != std::string_view::npos) return container::podman;
  if (text.find("docker") != std::string_view::npos) return container::docker;
  return container::other;
}

container find_container() {
  if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr) return container::kubernetes;
  if (exists("/run/.containerenv")) return container::podman;
  if (exists("/.dockerenv")) return container::docker;
  if (const std::string kind = contents("/run/systemd/container"); !kind.empty()) return container_named(kind);
  if (const char* name = std::getenv("container"); name != nullptr) return container_named(name);
  // Only root may read this file.
  const std::string first = '\0' + contents("/proc/1/environ");
  constexpr std::string_view name("\0container=", 11);
  if (const auto at = first.find(name); at != std::string::npos)
    return container_named(std::string_view(first.c_str() + at + name.size()));
  return container::none;
}

bool is_host_root() {
  if (::geteuid() != 0) return false;
  std::uint32_t inside = 0, outside = 0;
  std::ifstream("/proc/self/uid_map") >> inside >> outside;
  return outside == 0;
}

}  // namespace

std::vector<std::string> missing_capabilities(const std::string& status) {
  const std::string hex = line_of(status, "CapEff:");
  if (hex.empty()) return {};
  const std::uint64_t effective = std::strtoull(hex.c_str(), nullptr, 16);
  std::vector<std::string> out;
  // Numbers of linux/capability.h.
  for (const auto& [bit, name] : {std::pair(21, "CAP_SYS_ADMIN"), std::pair(12, "CAP_NET_ADMIN"),
                                  std::pair(6, "CAP_SETGID"), std::pair(7, "CAP_SETUID"), std::pair(8, "CAP_SETPCAP")})
    if ((effective >> bit & 1) == 0) out.emplace_back(name);
  return out;
}

bool is_filtered(const std::string& status) {
  return line_of(status, "Seccomp:").find('2') != std::string::npos;
}

std::optional<std::uint64_t> apparmor_restriction(const std::string& directory) {
  const std::string path = directory + "/apparmor_restrict_unprivileged_userns";
  // Only Ubuntu's kernels have the setting. If /proc/sys itself is hidden, the absence of the file proves nothing.
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT && !contents((directory + "/osrelease").c_str()).empty())
    return 0;
  return number(path.c_str());
}

system_info read_system_info(const std::string& bwrap_path) {
  system_info out;
  out.bwrap_exists = exists(bwrap_path.c_str());
  out.bwrap_may_run = ::access(bwrap_path.c_str(), X_OK) == 0;
  const std::string status = contents("/proc/self/status");
  out.is_root = is_host_root();
  if (out.is_root) out.missing_capabilities = missing_capabilities(status);
  out.is_filtered = is_filtered(status);
  out.in = find_container();
  out.apparmor_restricts = apparmor_restriction("/proc/sys/kernel");
  out.userns_clone = number("/proc/sys/kernel/unprivileged_userns_clone");
  out.max_user_namespaces = number("/proc/sys/user/max_user_namespaces");
  return out;
}

const char* name_of(confinement mode) {
  return mode == confinement::drop_root ? "drop_root" : "user_namespace";
}

std::vector<confinement> possible_confinements() {
  if (::geteuid() != 0) return {confinement::user_namespace};
  if (is_host_root()) return {confinement::drop_root};
  return {confinement::drop_root, confinement::user_namespace};
}

}  // namespace bubblewrap

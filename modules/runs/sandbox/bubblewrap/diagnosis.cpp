#include "diagnosis.hpp"

#include <algorithm>
#include <initializer_list>

namespace bubblewrap {
namespace {

constexpr std::size_t max_quoted_output = 300;

constexpr std::string_view docker_proc = "--security-opt systempaths=unconfined";
constexpr std::string_view podman_proc = "--security-opt unmask=ALL";
constexpr std::string_view kubernetes_proc =
    "procMount: Unmasked in the container's securityContext and hostUsers: false in the pod";

class diagnoser {
 public:
  diagnoser(std::string_view output, const system_info& system, const std::string& bwrap_path)
      : output_(output), system_(system), bwrap_(bwrap_path) {}

  diagnosis result() const {
    for (const auto step :
         {&diagnoser::check_program, &diagnoser::check_proc, &diagnoser::check_root, &diagnoser::check_kernel,
          &diagnoser::check_apparmor, &diagnoser::check_mounts, &diagnoser::check_namespaces})
      if (diagnosis found = (this->*step)(); !found.cause.empty()) return found;
    return {};
  }

 private:
  bool output_contains(std::string_view text) const { return output_.find(text) != std::string_view::npos; }
  bool output_contains_any(std::initializer_list<std::string_view> texts) const {
    return std::any_of(texts.begin(), texts.end(), [&](std::string_view t) { return output_contains(t); });
  }
  bool in_container() const { return system_.in != container::none; }

  // The message of versions up to 0.10 is "No permissions to creating new namespace".
  bool was_refused_a_namespace() const {
    return output_contains_any({"No permissions to creat", "Creating new namespace failed"});
  }

  // All options that namespaces of an ordinary user need in a container, so that one restart is enough.
  std::string container_options() const {
    const std::string docker =
        "--security-opt seccomp=unconfined --security-opt apparmor=unconfined " + std::string(docker_proc);
    const std::string podman = "--security-opt seccomp=unconfined " + std::string(podman_proc);
    const std::string kubernetes = "seccompProfile: {type: Unconfined}, " + std::string(kubernetes_proc);
    switch (system_.in) {
      case container::docker:
        return docker;
      case container::podman:
        return podman;
      case container::kubernetes:
        return kubernetes;
      default:
        return "Docker: " + docker + "; Podman: " + podman + "; Kubernetes: " + kubernetes;
    }
  }

  diagnosis check_program() const {
    if (!system_.bwrap_exists)
      return {"the program " + bwrap_ + " does not exist",
              "Install the package bubblewrap, or set sandbox_bubblewrap.bwrap_path"};
    if (!system_.bwrap_may_run)
      return {"the server's user has no permission to execute " + bwrap_,
              "Make it executable (chmod 755), on a file system that is not mounted noexec"};
    if (output_contains("bwrap: Unknown option"))
      return {"bubblewrap is older than 0.8", "Install bubblewrap 0.8 or later"};
    // With NoNewPrivileges= the set-user-ID bit has no effect, and bwrap does not print this.
    if (output_contains("not permitted in setuid mode"))
      return {bwrap_ +
                  " is installed set-user-ID root, and such a bwrap refuses options that the "
                  "sandbox needs",
              "Remove the bit: dpkg-statoverride --force-statoverride-add --update --add root root "
              "0755 " +
                  bwrap_};
    if (output_contains("Unexpected capabilities but not setuid"))
      return {"bwrap was started with capabilities, which it refuses",
              "Remove AmbientCapabilities= from the server's unit, and file capabilities from "
              "bwrap (setcap -r " +
                  bwrap_ + ")"};
    if (output_contains_any({"execvp /.sandbox-exec", "no such program: ", "cannot execute "}))
      return {"the program runyard-sandbox-exec is missing, or the server's user has no permission to execute it",
              "Install it next to the server's program or set sandbox_bubblewrap.exec_path, and make it "
              "executable (chmod 755), on a file system that is not mounted noexec"};
    return {};
  }

  diagnosis check_proc() const {
    if (!output_contains_any({"Can't mount proc on", "/proc/sys/user/max_user_namespaces: Read-only"})) return {};
    const std::string cause =
        "parts of /proc are masked or read-only (usual in containers), so the kernel refuses to "
        "mount a new /proc in a user namespace";
    switch (system_.in) {
      case container::docker:
        return {cause, "Start the container with " + std::string(docker_proc)};
      case container::podman:
        return {cause, "Start the container with " + std::string(podman_proc)};
      case container::kubernetes:
        return {cause, "Set " + std::string(kubernetes_proc)};
      default:
        break;
    }
    const std::string containers = "Docker: " + std::string(docker_proc) + "; Podman: " + std::string(podman_proc) +
                                   "; Kubernetes: " + std::string(kubernetes_proc);
    if (in_container()) return {cause, "Unmask it. " + containers};
    return {cause, "In a container, unmask it. " + containers +
                       ". In a systemd unit, remove ProtectProc=, ProcSubset=, ProtectKernelTunables= and "
                       "ProtectKernelLogs="};
  }

  bool user_namespaces_seem_allowed() const {
    return !system_.is_filtered && system_.apparmor_restricts.value_or(0) == 0 &&
           system_.userns_clone.value_or(1) != 0 && system_.max_user_namespaces.value_or(1) != 0;
  }

  diagnosis check_root() const {
    if (!system_.is_root) return {};
    // The steps in which runyard-sandbox-exec switches to the project's user. Other steps fail for other reasons.
    if (output_contains_any({"runyard-sandbox-exec: capabilities: ", "runyard-sandbox-exec: setgroups: ",
                             "runyard-sandbox-exec: setresgid: ", "runyard-sandbox-exec: setresuid: ",
                             "runyard-sandbox-exec: capset: "}))
      return {
          "the sandbox cannot switch to another user, for example because of Ubuntu's AppArmor "
          "profile bwrap-userns-restrict",
          "Start the server as an ordinary user"};
    if (system_.missing_capabilities.empty()) return {};
    std::string names;
    for (const auto& name : system_.missing_capabilities) names += (names.empty() ? "" : ", ") + name;
    const std::string cause = "the server was started as root, but without " + names;
    if (in_container())
      return {cause,
              "Start the server as an ordinary user of the container (Docker, Podman: --user; "
              "Kubernetes: "
              "runAsUser), and the container with " +
                  container_options()};
    if (user_namespaces_seem_allowed()) return {cause, "Start it as an ordinary user, or with these capabilities"};
    return {cause, "Start it with these capabilities"};
  }

  // Kernel settings that apply only to ordinary users.
  diagnosis check_kernel() const {
    if (output_contains("kernel does not support user namespaces"))
      return {"the kernel does not support user namespaces", "Use a kernel with CONFIG_USER_NS"};
    if (output_contains("PR_SET_SECCOMP"))
      return {"the kernel does not support system call filters",
              "Use a kernel (or a container runtime) with CONFIG_SECCOMP_FILTER"};
    if (system_.is_root || !(was_refused_a_namespace() || output_contains("uid map"))) return {};
    if (system_.max_user_namespaces == std::uint64_t{0})
      return {"user namespaces are disabled (user.max_user_namespaces = 0)",
              "Run sysctl -w user.max_user_namespaces=10000, and add the setting to /etc/sysctl.d"};
    if (system_.userns_clone == std::uint64_t{0})
      return {"user namespaces of ordinary users are disabled (kernel.unprivileged_userns_clone = 0)",
              "Run sysctl -w kernel.unprivileged_userns_clone=1, and add the setting to /etc/sysctl.d"};
    if (output_contains("(ENOSPC)"))
      return {
          "the limit on the number or the nesting depth of namespaces is reached "
          "(user.max_*_namespaces)",
          "Raise user.max_*_namespaces with sysctl on the host; the kernel's limit on the "
          "nesting depth is fixed"};
    return {};
  }

  diagnosis check_apparmor() const {
    if (system_.apparmor_restricts == std::uint64_t{0}) return {};
    // In a container, the seccomp profile refuses the namespace before AppArmor can.
    if (in_container() && was_refused_a_namespace()) return {};
    const bool restricts = system_.apparmor_restricts.value_or(0) != 0 && !system_.is_root;
    // bwrap fails at these steps if it has no capabilities in its new namespace.
    const bool is_typical = output_contains_any(
        {"loopback: Failed RTM_NEWADDR: Operation not permitted", "setting up uid map: Permission denied"});
    const bool is_possible =
        was_refused_a_namespace() || output_contains_any({"uid map", "Permission denied", "loopback:"});
    if (!is_typical && !(restricts && is_possible)) return {};
    return {restricts ? "AppArmor blocks user namespaces of ordinary users "
                        "(kernel.apparmor_restrict_unprivileged_userns = 1, as in Ubuntu 24.04)"
                      : "AppArmor seems to block user namespaces of ordinary users, as in Ubuntu 24.04",
            std::string(in_container() ? "On the host, load" : "Load") + " an AppArmor profile for " + bwrap_ +
                " with the rule \"userns,\" (docs/security.md has the commands), or, for all "
                "programs, run sysctl -w "
                "kernel.apparmor_restrict_unprivileged_userns=0"};
  }

  diagnosis check_mounts() const {
    if (output_contains("Can't set hostname"))
      return {"the server has no permission to set a host name", "Remove ProtectHostname= from the server's unit"};
    if (!output_contains_any({"Failed to make / slave", "Failed to mount tmpfs", "Failed to make old root rprivate"}))
      return {};
    return {"a security profile (AppArmor, SELinux, seccomp) denies mounts",
            in_container() ? "Start the container with " + container_options() +
                                 "; if SELinux is enforcing, also --security-opt label=disable"
                           : "Find the denial in the kernel's log (dmesg, journalctl -k), and let the "
                             "profile allow mounts for " +
                                 bwrap_};
  }

  diagnosis check_namespaces() const {
    if (!was_refused_a_namespace() && !output_contains("loopback:") && !output_contains("uid map")) return {};
    if (in_container())
      return {"the container's seccomp profile denies new namespaces (clone and unshare)",
              "Start it with " + container_options() +
                  (system_.apparmor_restricts.value_or(0) != 0
                       ? ". The host's AppArmor also restricts user namespaces (docs/security.md)"
                       : "")};
    if (system_.is_filtered)
      return {"a system call filter of the server denies new namespaces",
              "In its systemd unit, remove RestrictNamespaces=, and allow @mount in SystemCallFilter="};
    return {"the kernel denies new namespaces to the server's user",
            "Find the denial in the kernel's log (dmesg, journalctl -k); in a chroot the kernel "
            "denies user namespaces"};
  }

  const std::string_view output_;
  const system_info& system_;
  const std::string& bwrap_;
};

}  // namespace

std::string_view truncate_utf8(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  // Bytes of the form 10xxxxxx continue a character.
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xc0) == 0x80) --max_bytes;
  return text.substr(0, max_bytes);
}

diagnosis diagnose(std::string_view output, const system_info& system, const std::string& bwrap_path) {
  return diagnoser(output, system, bwrap_path).result();
}

diagnosis diagnose_timeout(std::chrono::seconds limit, const std::string& bwrap_path) {
  return {"the test command did not exit within " + std::to_string(limit.count()) + " s and was terminated",
          "Check that sandbox_bubblewrap.bwrap_path (" + bwrap_path +
              ") is bubblewrap and that it exits, and that the machine is not overloaded; then restart the server"};
}

diagnosis diagnose_missing_marker(const std::string& bwrap_path, const std::string& exec_path) {
  return {"the test command succeeded without the expected output, so another program was executed in its place",
          "Check that sandbox_bubblewrap.exec_path (" + exec_path +
              ") is runyard-sandbox-exec and that sandbox_bubblewrap.bwrap_path (" + bwrap_path + ") is bubblewrap"};
}

std::string message_of(const diagnosis& found, std::string_view output) {
  std::string out = "bubblewrap does not work here, so agents cannot run commands: ";
  if (found.cause.empty())
    out += "unknown cause; see \"Where the sandbox cannot work\" in docs/security.md";
  else
    out += found.cause + ". " + found.fix;
  std::string excerpt(truncate_utf8(output, max_quoted_output));
  std::replace(excerpt.begin(), excerpt.end(), '\n', ' ');
  return out + ". Output of bubblewrap: " + excerpt;
}

std::string workspace_message(std::string_view error) {
  return "the sandbox does not work here, so agents cannot run commands: the server cannot create "
         "a workspace in data_dir (" +
         std::string(error) +
         "). Check the owner, the permissions and the free space of <data_dir>/modules/sandbox_bubblewrap/workspaces";
}

}  // namespace bubblewrap

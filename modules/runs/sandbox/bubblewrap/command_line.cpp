#include "command_line.hpp"

#include <unistd.h>

#include <filesystem>

#include "without_protection.hpp"

namespace bubblewrap {
namespace {

constexpr std::uint32_t sandbox_uid = 1000;
// At the root of the sandbox, because every directory may be a read-only mount of the host.
constexpr std::string_view sandbox_exec_path = "/.sandbox-exec";

void add(std::vector<std::string>& out, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words) out.emplace_back(word);
}

void add_limit(std::vector<std::string>& out, std::string_view option, std::uint64_t value) {
  if (value != 0) add(out, {option, std::to_string(value)});
}

}  // namespace

std::string working_directory(const command_spec& spec) {
  return spec.workspace.empty() ? spec.etc_directory : spec.workspace;
}

std::vector<std::string> build_command_line(const command_spec& spec) {
  std::vector<std::string> out;
  out.reserve(112 + spec.argv.size());
  const auto etc = std::filesystem::path(spec.etc_directory).lexically_relative(working_directory(spec));
  // bwrap reads the system call filter from the descriptor, and closes it.
  add(out, {spec.exec_path, "filter", "--nice", std::to_string(spec.nice), (etc / "system_calls").native(),
            spec.bwrap_path, "--seccomp", "9"});
  if (spec.mode == confinement::user_namespace) {
    const std::string id = std::to_string(sandbox_uid);
    add(out, {"--unshare-user", "--disable-userns", "--uid", id, "--gid", id});
  }
  add(out, {"--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname",
            "sandbox", "--die-with-parent", "--new-session"});
  if (spec.network == network_access::none) add(out, {"--unshare-net"});
  add(out, {"--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin", "--symlink",
            "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"});
  // The files of /etc that programs commonly need. Without --perms, only root could read the directory.
  add(out, {"--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/etc/ssl"});
  for (std::string_view path :
       {"/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/etc/ssl/certs", "/etc/fonts"})
    add(out, {"--ro-bind-try", path, path});
  if (spec.network == network_access::host)
    add(out, {"--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf", "--ro-bind-try", "/etc/hosts", "/etc/hosts",
              "--ro-bind-try", "/etc/nsswitch.conf", "/etc/nsswitch.conf"});
  const std::string passwd = etc / "passwd";
  const std::string group = etc / "group";
  add(out, {"--ro-bind", passwd, "/etc/passwd", "--ro-bind", group, "/etc/group"});
  add(out, {"--proc", "/proc", "--dev", "/dev"});
  // Hides information about the kernel that is only useful for attacks. Not every kernel has these files.
  for (const char* path : {"/proc/cmdline", "/proc/config.gz", "/proc/kallsyms"}) {
    if (::access(path, F_OK) == 0 && !ry_test::without_protection("kernel_files"))
      add(out, {"--ro-bind", "/dev/null", path});
  }
  for (std::string_view path : {"/tmp", "/dev/shm"}) {
    if (spec.limit.tmp_bytes != 0) add(out, {"--size", std::to_string(spec.limit.tmp_bytes)});
    add(out, {"--perms", "1777", "--tmpfs", path});
  }
  for (const auto& host_path : spec.host_paths) {
    for (auto end = host_path.path.find('/', 1); end != std::string_view::npos; end = host_path.path.find('/', end + 1))
      add(out, {"--perms", "0755", "--dir", host_path.path.substr(0, end)});
    add(out, {host_path.writable ? "--bind-try" : "--ro-bind-try", host_path.path, host_path.path});
  }
  // Mounts over the paths that must be hidden. Read-only, because these memory file systems have no size limit.
  for (const auto& hidden : spec.hidden) {
    if (hidden.directory)
      add(out, {"--perms", "0755", "--tmpfs", hidden.path, "--remount-ro", hidden.path});
    else
      add(out, {"--ro-bind", "/dev/null", hidden.path});
  }
  if (spec.workspace.empty()) {
    if (spec.limit.tmp_bytes != 0) add(out, {"--size", std::to_string(spec.limit.tmp_bytes)});
    add(out, {"--perms", "1777", "--tmpfs", "/workspace"});
  } else {
    add(out, {"--bind", ".", "/workspace"});
  }
  if (!spec.cache.empty()) {
    const auto cache = std::filesystem::path(spec.cache).lexically_relative(working_directory(spec));
    add(out, {"--bind", cache.native(), "/cache"});
  }
  add(out, {"--chdir", "/"});
  for (std::string_view file : spec.host_files) {
    const std::string inside = "/opt/runyard/" + std::string(file.substr(file.rfind('/') + 1));
    add(out,
        {"--perms", "0755", "--dir", "/opt", "--perms", "0755", "--dir", "/opt/runyard", "--ro-bind", file, inside});
  }
  add(out, {"--ro-bind", spec.exec_path, sandbox_exec_path});
  // The root and /dev are memory file systems without a size limit, so the command must not be able to write to them.
  add(out, {"--remount-ro", "/dev", "--remount-ro", "/"});
  add(out, {"--cap-drop", "ALL"});
  // runyard-sandbox-exec drops the three capabilities after it has become the project's uid.
  if (spec.mode == confinement::drop_root)
    add(out, {"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"});
  // The sandbox's init sets the limits for itself and the command: inside the user namespace, the kernel counts only
  // the processes of this sandbox, and bwrap itself is not limited.
  add(out, {"--", sandbox_exec_path, "enter"});
  if (spec.argv.empty()) {
    out.emplace_back("--wait");  // the start request contains the uid
  } else if (spec.mode == confinement::drop_root) {
    add(out, {"--uid", std::to_string(spec.uid)});
  }
  add(out, {"--core", "0"});
  add_limit(out, "--as", spec.limit.memory_bytes);
  add_limit(out, "--data", spec.limit.data_bytes);
  add_limit(out, "--nproc", spec.limit.processes);
  add_limit(out, "--fsize", spec.limit.file_bytes);
  add_limit(out, "--nofile", spec.limit.open_files);
  out.emplace_back("--");
  for (std::string_view word : spec.argv) out.emplace_back(word);
  return out;
}

std::vector<std::string> command_environment() {
  std::vector<std::string> out{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
                               "HOME=/workspace",
                               "USER=agent",
                               "LOGNAME=agent",
                               "SHELL=/bin/sh",
                               "TMPDIR=/tmp",
                               "LANG=C.UTF-8",
                               "TERM=dumb"};
  // Read by runyard-sandbox-exec.
  if (ry_test::without_protection("init_limits")) out.emplace_back("RY_TEST_WITHOUT=init_limits");
  return out;
}

std::uint32_t project_uid(std::string_view project_id, std::uint32_t base, std::uint32_t count) {
  std::uint64_t hash = 1469598103934665603u;  // FNV-1a, because every build must return the same uid
  for (char c : project_id) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211u;
  }
  return base + static_cast<std::uint32_t>(hash % (count == 0 ? 1 : count));
}

std::string passwd_text(std::uint32_t base, std::uint32_t count) {
  const auto line = [](std::uint32_t id) {
    const std::string text = std::to_string(id);
    return "agent:x:" + text + ":" + text + "::/workspace:/bin/sh\n";
  };
  std::string out = "root:x:0:0::/nonexistent:/usr/sbin/nologin\n" + line(sandbox_uid);
  for (std::uint32_t i = 0; i < count; ++i) out += line(base + i);
  return out + "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n";
}

std::string group_text(std::uint32_t base, std::uint32_t count) {
  std::string out = "root:x:0:\nagent:x:" + std::to_string(sandbox_uid) + ":\n";
  for (std::uint32_t i = 0; i < count; ++i) out += "agent:x:" + std::to_string(base + i) + ":\n";
  return out + "nogroup:x:65534:\n";
}

}  // namespace bubblewrap

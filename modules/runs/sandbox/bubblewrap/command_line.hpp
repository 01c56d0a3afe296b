// The argument vector that runs one command inside bubblewrap.
//
// There are two confinement modes; a probe at the start chooses one:
//  - user_namespace: the server runs as an ordinary user (or as root without CAP_SYS_ADMIN). bwrap creates a user
//    namespace in which the command has uid 1000 and may not create further namespaces.
//  - drop_root: the server runs as root. bwrap prepares the mounts as root, so the data directory can be inaccessible
//    to other users. The command then runs as the project's unprivileged uid, without capabilities and without a way to
//    get one. The kernel counts processes per uid, so their limit applies per project.
// runyard-sandbox-exec performs the steps that bwrap lacks: it opens the filter, changes to the uid and sets limits.
// In both modes the command can access a read-only system, its own /workspace, an empty /tmp, its own processes and, by
// default, no network. Its system calls are filtered (system_calls.hpp).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bubblewrap {

enum class confinement { user_namespace, drop_root };
enum class network_access { none, host };

struct limits {
  std::uint64_t memory_bytes = 0;  // address space of each process
  std::uint64_t processes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t open_files = 0;
  std::uint64_t tmp_bytes = 0;  // size of /tmp
  std::uint64_t data_bytes = 0;  // memory that each process can write to
};

// A directory or file of the host that appears in the sandbox under the same path.
struct host_path {
  std::string_view path;
  bool writable = false;
};

// A path below a host_path that must not be visible, by its name in the sandbox.
struct hidden_path {
  std::string path;
  bool directory = true;
};

struct command_spec {
  confinement mode = confinement::user_namespace;
  network_access network = network_access::none;
  std::string bwrap_path;  // absolute
  std::string exec_path;  // runyard-sandbox-exec, absolute
  std::string
      workspace;  // host directory that appears as /workspace; empty: /workspace is an empty directory in memory
  // Host directory with the files passwd, group and system_calls (the result of system_call_filter()). The paths of
  // both directories contain no links.
  std::string etc_directory;
  std::uint32_t uid = 0;  // drop_root only
  limits limit;
  std::uint32_t nice = 0;  // scheduling priority, 0 to 19
  std::vector<std::string_view> argv;  // empty: the sandbox waits for a start request (start_request.hpp)
  std::vector<std::string_view> host_files;  // programs that appear in /opt/runyard
  std::vector<host_path> host_paths;
  std::vector<hidden_path> hidden;
  std::string cache;  // canonical path of a host directory that appears as /cache; empty: none
};

// The directory of the host in which the command line must be executed. Paths of the server are relative to it, because
// the command can read the arguments of the sandbox's first process.
std::string working_directory(const command_spec& spec);

// The arguments to execute on the host. Throws only std::bad_alloc.
std::vector<std::string> build_command_line(const command_spec& spec);

// The environment of every sandboxed command. It does not inherit variables of the server.
std::vector<std::string> command_environment();

// The uid of a project in drop_root mode: stable, spread over [base, base + count).
std::uint32_t project_uid(std::string_view project_id, std::uint32_t base, std::uint32_t count);

// The text of the sandbox's /etc/passwd and /etc/group: uid 1000 and all uids of the drop_root range are the user
// "agent", with /workspace as home directory.
std::string passwd_text(std::uint32_t base, std::uint32_t count);
std::string group_text(std::uint32_t base, std::uint32_t count);

}  // namespace bubblewrap

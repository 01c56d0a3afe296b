// The argument vector that runs one command inside bubblewrap.
//
// Two kinds of confinement; a probe at the start chooses one:
//  - user_namespace: started by an ordinary user (or by a root that has no CAP_SYS_ADMIN). bwrap makes a
//    user namespace in which the command is uid 1000 and may not make further ones.
//  - drop_root: started by root. bwrap prepares the mounts as root, so the data directory can be closed
//    to other users. The command then runs as the project's unprivileged uid, without capabilities and
//    without a way to get one. The kernel counts processes per uid, so their limit holds per project.
// runyard-sandbox-exec performs the steps that bwrap lacks: it opens the filter, changes to the uid and sets limits.
// In both modes the command sees a read-only system, its own /workspace, an empty /tmp, its own processes and, by default, no
// network. Its system calls are filtered (system_calls.hpp).
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

// A directory or file of the host that appears under its own path.
struct host_place {
  std::string_view path;
  bool writable = false;
};

// A path inside a place that must not be visible, by its name in the sandbox.
struct hidden_place {
  std::string path;
  bool directory = true;
};

struct command_spec {
  confinement mode = confinement::user_namespace;
  network_access network = network_access::none;
  std::string bwrap_path;  // absolute
  std::string exec_path;  // runyard-sandbox-exec, absolute
  std::string workspace;  // host directory that appears as /workspace; empty: an empty one in memory
  // Host directory with the files passwd, group and system_calls (the result of system_call_filter()). The paths of both
  // directories contain no links.
  std::string etc_directory;
  std::uint32_t uid = 0;  // drop_root only
  limits limit;
  std::uint32_t nice = 0;  // scheduling priority, 0 to 19
  std::vector<std::string_view> argv;  // empty: the sandbox waits for a start request (start_request.hpp)
  std::vector<std::string_view> host_files;  // programs that appear in /opt/runyard
  std::vector<host_place> places;
  std::vector<hidden_place> hidden;
  std::string cache;  // canonical path of a host directory that appears as /cache; empty: none
};

// The directory of the host in which the command line must be executed. Paths of the server are relative to it, because the
// command can read the arguments of the sandbox's first process.
std::string working_directory(const command_spec& spec);

// The arguments to execute on the host. Throws std::bad_alloc only.
std::vector<std::string> build_command_line(const command_spec& spec);

// The environment of every sandboxed command, which inherits no variable of the server.
std::vector<std::string> command_environment();

// The uid of a project in drop_root mode: stable, spread over [base, base + count).
std::uint32_t project_uid(std::string_view project_id, std::uint32_t base, std::uint32_t count);

// The text of the sandbox's /etc/passwd and /etc/group: uid 1000 and the range of drop_root are all
// the user "agent", with /workspace as home.
std::string passwd_text(std::uint32_t base, std::uint32_t count);
std::string group_text(std::uint32_t base, std::uint32_t count);

}  // namespace bubblewrap

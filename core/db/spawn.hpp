// Starts PostgreSQL's programs: as another user, with a clean environment, terminated when the starting thread ends.
// Internal to core/db.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ry::db {

struct run_as {
  uid_t uid;
  gid_t gid;
  std::string name;
};

struct spawn_spec {
  std::vector<std::string> argv;  // argv[0] is a path
  std::optional<run_as> user;  // nullopt: the user of this process
  int output = -1;  // standard output and error; -1: /dev/null
  int death_signal = 0;  // sent to the child when the thread that started it ends
};

// Returns the child's process id; the caller must reap it. Throws failure if the program cannot be started.
pid_t spawn(const spawn_spec& spec);

struct finished {
  int status = -1;  // exit code, or 128 + signal
  std::string output;  // the first 64 KiB
};
// Runs a program and waits for it to exit.
finished run_program(std::vector<std::string> argv, const std::optional<run_as>& user = {});

// A process as described in /proc.
struct process_info {
  std::string program;  // at most 15 characters
  char state = 'R';  // 'T' stopped, 'Z' zombie
  pid_t parent = 0;
};
std::optional<process_info> process_info_of(pid_t pid);
std::vector<pid_t> children_of(pid_t pid);
// The PostgreSQL processes that use this cluster (the server and its children), as far as we may inspect them.
// `suspect`: the process id in the cluster's lock file; its arguments suffice as evidence, because its working
// directory may be hidden from us.
std::vector<pid_t> servers_of(const std::filesystem::path& cluster, pid_t suspect = 0);

// Whether that user could enter the directory.
bool can_enter(const std::filesystem::path& dir, const std::optional<run_as>& user);

// Users that PostgreSQL may run as when the server runs as root, in order of preference: a user for this purpose only,
// and the user that the package creates for the server.
inline const std::vector<std::string> postgres_users{"runyard-pg", "runyard"};

// Shared users of the system that earlier versions used. Their clusters are handed to one of postgres_users.
inline const std::vector<std::string> former_postgres_users{"postgres", "nobody"};

// The first of these users that exists; nullopt if the server does not run as root. Throws failure if it runs as root
// and none of them exists.
std::optional<run_as> unprivileged_user(const std::vector<std::string>& names = postgres_users);

}  // namespace ry::db

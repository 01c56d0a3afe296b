// Starting PostgreSQL's programs: as another user, with a clean environment, ended when we end.
// Internal to the room.
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
  std::optional<run_as> user;     // nullopt: ourselves
  int output = -1;                // standard output and error; -1: /dev/null
  int death_signal = 0;           // sent to the child when the calling thread ends
};

// Returns the child's id; the caller reaps it. Throws failure when the program cannot be started.
pid_t spawn(const spawn_spec& spec);

struct finished {
  int status = -1;     // exit code, or 128 + signal
  std::string output;  // the first 64 KiB
};
// spawn() and wait.
finished run_program(std::vector<std::string> argv, const std::optional<run_as>& user = {});

// A process as /proc shows it.
struct process_facts {
  std::string program;  // at most 15 characters
  char state = 'R';  // 'T' stopped, 'Z' ended and not reaped
  pid_t parent = 0;
};
std::optional<process_facts> facts_of(pid_t pid);
std::vector<pid_t> children_of(pid_t pid);
// The processes of PostgreSQL that work on that cluster, its server and those it started, as far as
// we may look at them. `suspect`: an id that the cluster's lock file names; of it the arguments are
// proof enough, as its directory may be hidden from us.
std::vector<pid_t> servers_of(const std::filesystem::path& cluster, pid_t suspect = 0);

// Whether that user could enter the directory.
bool can_enter(const std::filesystem::path& dir, const std::optional<run_as>& user);

// Users that PostgreSQL may run as when the server runs as root, the best first. runyard-pg exists for this purpose only;
// programs that run as one of the other, shared users can read the database.
inline const std::vector<std::string> postgres_users{"runyard-pg", "postgres", "nobody"};

// The first of these users that exists. nullopt if the server does not run as root. Throws failure if it runs as root and
// none of them exists.
std::optional<run_as> unprivileged_user(const std::vector<std::string>& names = postgres_users);

}  // namespace ry::db

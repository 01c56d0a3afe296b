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

// Whether that user could enter the directory.
bool can_enter(const std::filesystem::path& dir, const std::optional<run_as>& user);

// The user that PostgreSQL runs as when we are root: postgres, or else nobody. nullopt when we are
// not root. Throws failure when root has neither.
std::optional<run_as> unprivileged_user();

}  // namespace ry::db

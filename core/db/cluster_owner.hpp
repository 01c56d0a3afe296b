// The user that the embedded PostgreSQL runs as, and the directories that must belong to this user.
// One thread at a time. Failures are thrown with a message for the operator. Internal to the room.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/db/spawn.hpp"

namespace ry::db::embedded {

class cluster_owner {
 public:
  // Users that PostgreSQL may run as, the best first; empty: postgres_users.
  explicit cluster_owner(std::vector<std::string> names);

  // Once, before the other functions. Warns if the best user does not exist.
  void choose();
  // nullopt: PostgreSQL runs as the user of this process.
  const std::optional<run_as>& user() const { return user_; }

  // `data`, or another directory, which data/postgres then links to, if the user cannot enter
  // `data`.
  std::filesystem::path reachable(const std::filesystem::path& data) const;
  // The directory of the socket: in `place` if the path is short enough for a socket, else in /tmp.
  static std::filesystem::path socket_dir(const std::filesystem::path& place);
  // Makes it, or takes over the one that exists, so that only the user can enter it.
  void make_socket_dir(const std::filesystem::path& dir, const std::filesystem::path& place) const;
  // Hands a cluster and its log to the user if they belong to another one of the users. PostgreSQL
  // itself refuses a cluster of any other owner.
  void take_over(const std::filesystem::path& cluster, const std::filesystem::path& log) const;

 private:
  bool is_other_user(uid_t uid) const;

  std::vector<std::string> names_;
  std::optional<run_as> user_;
};

}  // namespace ry::db::embedded

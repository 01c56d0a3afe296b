// Chooses the user that the embedded PostgreSQL runs as, and gives this user the directories it needs. One thread at
// a time. Throws failure with a message for the operator. Internal to core/db.
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
  // `names`: users that PostgreSQL may run as, in order of preference; empty: postgres_users.
  explicit cluster_owner(std::vector<std::string> names);

  // Call once, before the other functions. Throws if the server runs as root and none of the users exists.
  void choose();
  // nullopt: PostgreSQL runs as the user of this process.
  const std::optional<run_as>& user() const { return user_; }

  // Returns the directory for the cluster: `data`, or, if the user cannot enter it, another directory to which the
  // symbolic link data/postgres then points.
  std::filesystem::path reachable(const std::filesystem::path& data) const;
  // The socket's directory: in `parent` if its path is short enough for a socket, else in /tmp.
  static std::filesystem::path socket_dir(const std::filesystem::path& parent);
  // Creates the directory, or claims an existing one; afterwards only the user can enter it.
  void make_socket_dir(const std::filesystem::path& dir, const std::filesystem::path& parent) const;
  // Changes the owner of a cluster and its log if another of the configured users owns them. PostgreSQL itself
  // rejects a cluster that belongs to a different user.
  void claim(const std::filesystem::path& cluster, const std::filesystem::path& log) const;

 private:
  bool is_other_user(uid_t uid) const;

  std::vector<std::string> names_;
  std::optional<run_as> user_;
};

}  // namespace ry::db::embedded

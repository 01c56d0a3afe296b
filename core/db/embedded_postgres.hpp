// A private PostgreSQL for servers without database.url. The server creates it on the first start, connects only over
// a Unix socket, restarts it when it exits, and stops it at shutdown. The cluster is in data_dir/postgres.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/db/embedded_error.hpp"

namespace ry::db {

struct embedded_settings {
  std::filesystem::path data_dir;  // of the server; created if missing
  std::filesystem::path bindir;  // of PostgreSQL; empty: /usr/lib/postgresql/*/bin, PATH
  int max_connections = 60;
  std::vector<std::string> users;  // users that PostgreSQL may run as; empty: postgres_users
};

class embedded_postgres {
 public:
  explicit embedded_postgres(embedded_settings settings);
  ~embedded_postgres();  // stop()
  embedded_postgres(const embedded_postgres&) = delete;
  embedded_postgres& operator=(const embedded_postgres&) = delete;

  // Whether a cluster exists there.
  static bool exists(const std::filesystem::path& data_dir);

  // Failure reason if no installed version can open the cluster, or if the cluster has no valid PG_VERSION. Every
  // start fails until the operator acts.
  static constexpr const char* wrong_version = embedded::wrong_version;

  // Returns when PostgreSQL answers. A cluster is served by the major version that created it; the newest installed
  // version creates a new one. Call once. Throws failure with a message for the operator, which may have several
  // lines: PostgreSQL or the cluster's version is not installed, another server uses this data_dir, or a directory
  // cannot be used.
  void start();
  // URL of the database. Valid after start(); a restart does not change it.
  std::string url() const;
  // True while PostgreSQL runs; false while it is being restarted. [any]
  bool running() const noexcept;
  std::chrono::milliseconds start_time() const noexcept;
  // Performs a fast shutdown (running transactions are rolled back) and waits for it. Idempotent.
  void stop();

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace ry::db

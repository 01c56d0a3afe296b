// A private PostgreSQL for servers without database.url: made on the first start, reachable by a
// unix socket only, restarted when it dies, stopped with us. The cluster lives in
// data_dir/postgres.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ry::db {

struct embedded_settings {
  std::filesystem::path data_dir;  // of the server; made when absent
  std::filesystem::path bindir;    // of PostgreSQL; empty: /usr/lib/postgresql/*/bin, PATH
  int max_connections = 60;
  std::vector<std::string> users;  // that PostgreSQL may run as; empty: postgres_users
};

class embedded_postgres {
 public:
  explicit embedded_postgres(embedded_settings settings);
  ~embedded_postgres();  // stop()
  embedded_postgres(const embedded_postgres&) = delete;
  embedded_postgres& operator=(const embedded_postgres&) = delete;

  // Whether a cluster was made there.
  static bool exists(const std::filesystem::path& data_dir);

  // Reason of the failure if no installed version can open the cluster, or if the cluster has no
  // valid PG_VERSION. Each start fails until the operator acts.
  static constexpr const char* wrong_version = "db.embedded_version";

  // Returns when it answers. A cluster is served by the major version that created it, a new one is
  // created by the newest installed one. Throws failure with a message for the operator, which may
  // have several lines: no PostgreSQL found, the cluster's version is not installed, another server
  // on this data_dir, a directory that cannot be used. Once.
  void start();
  // Of the database, valid after start(); stays the same over restarts.
  std::string url() const;
  // Answers now. False while a dead server is being restarted. [any]
  bool running() const noexcept;
  std::chrono::milliseconds start_time() const noexcept;
  // Fast shutdown (running transactions are rolled back) and wait. Idempotent.
  void stop();

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace ry::db

// Reloads a part of the host's configuration on SIGHUP: the log (level, format and file, which may have been rotated),
// the TLS certificate, and the database address with its credentials. All other settings need a restart, or a reload of
// the module that they belong to. Modules whose files have changed are reloaded separately.
//
// Threads: the main thread. Lifetime: must not outlive the server.
#pragma once

#include <string>

#include "core/app/boot/load_config.hpp"
#include "core/db/database.hpp"
#include "core/http/server.hpp"

namespace ry::app {

// Opens the log as configured. Returns why it cannot be opened, or an empty string; if it fails, log lines
// still go to the previous destination.
std::string open_log(const config::config& c);

class config_reload {
 public:
  config_reload(config_options options, config::config& running, http::server& server, const db::settings& database);

  // Reads the configuration again. If it is invalid, the fault is logged and only the log file is reopened.
  struct outcome {
    std::string certificate, database;  // the outcome, for the log line
    bool ok = true;
  };
  outcome run();

 private:
  std::string renew_certificate(const config::config& fresh);
  std::string renew_database(const config::config& fresh);

  const config_options options_;
  config::config& running_;
  http::server& server_;
  const db::settings database_;
};

}  // namespace ry::app

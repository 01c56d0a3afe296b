// What SIGHUP renews beside the modules whose files have changed: the log (level, format and file, which may have been
// rotated), the TLS certificate, and the address of the database with its credentials. Everything else in the configuration
// needs a restart, or a reload of the module that it belongs to.
//
// Threads: the main thread. Lifetime: no longer than the server.
#pragma once

#include <string>

#include "core/app/commands.hpp"
#include "core/db/database.hpp"
#include "core/http/server.hpp"

namespace ry::app {

// Opens the log as the configuration says. Empty, or why it cannot be opened; lines then go where they went before.
std::string open_log(const config::config& c);

class config_reload {
 public:
  config_reload(config_options options, config::config& running, http::server& server, const db::settings& database);

  // Reads the configuration again. A mistake in it is logged, and nothing but the log file is renewed.
  struct outcome {
    std::string certificate, database;  // a word for the log line
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

// The server's database: database.url, or a private PostgreSQL that starts in the background while the modules are
// loaded.
#pragma once

#include <future>
#include <optional>
#include <string>

#include "core/app/boot/data_dir_lock.hpp"
#include "core/app/config/config.hpp"
#include "core/db/database.hpp"
#include "core/db/embedded_postgres.hpp"

namespace ry::app {

class postgres_start {
 public:
  // Starts the private PostgreSQL immediately if there is no database.url.
  postgres_start(const config::config& c, const data_dir_lock& dir_lock);
  ~postgres_start();  // stops the private PostgreSQL
  postgres_start(const postgres_start&) = delete;
  postgres_start& operator=(const postgres_start&) = delete;

  bool is_private() const noexcept { return own_.has_value(); }
  // The settings with the URL to use; blocks until a private PostgreSQL is ready. Throws db::failure with a message for
  // the operator.
  db::settings wait();
  void stop();

 private:
  db::settings settings_;
  std::optional<db::embedded_postgres> own_;
  std::future<void> starting_;
};

}  // namespace ry::app

// The settings of db::database, and how it treats submitted work.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "core/db/connection.hpp"

namespace ry::db {

struct settings {
  connect_settings connect;
  // Address of the server itself, for functions that need an exclusive session; empty: connect.url is the server.
  std::string direct_url;
  std::shared_ptr<live_url> direct_live;  // replaces direct_url if both are set
  std::size_t workers = 0;  // connections for ordinary work; 0 = by the number of cores
  // Maximum of concurrent interactive transactions; 0 = half of the workers.
  std::size_t max_transactions = 0;
  std::size_t max_queue = 20'000;  // queued calls; beyond: RY_RESOURCE_EXHAUSTED
  std::chrono::milliseconds unavailable_grace{3'000};  // then calls fail immediately instead of waiting
  std::chrono::milliseconds drain{5'000};  // how long stop() waits before it cancels statements

  // The settings for LISTEN and migrations.
  connect_settings session() const;
};

enum class priority {
  normal,
  high,  // housekeeping: has its own connection, never waits behind users' queries
};

// Whether work is repeated after its connection was lost.
enum class repeat { never, after_loss };

}  // namespace ry::db

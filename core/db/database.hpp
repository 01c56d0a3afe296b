// The process's access to PostgreSQL: a fixed set of worker threads with one connection each.
// Callers hand over work and are never blocked. Lives from before the first module is created until
// after the last one was destroyed.
#pragma once

#include <ry/if/db.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/db/connection.hpp"
#include "core/db/pool_stats.hpp"

namespace ry::db {

struct settings {
  connect_settings connect;
  // The server itself, for what needs a session of its own; empty: connect.url is the server.
  std::string direct_url;
  std::shared_ptr<live_url> direct_live;  // in the place of direct_url, if both are there
  std::size_t workers = 0;  // connections for ordinary work; 0 = by the number of cores
  // Interactive transactions at once; 0 = half of the workers.
  std::size_t max_transactions = 0;
  std::size_t max_queue = 20'000;               // waiting calls; beyond: RY_RESOURCE_EXHAUSTED
  std::chrono::milliseconds away_grace{3'000};  // then calls fail at once instead of waiting
  std::chrono::milliseconds drain{5'000};       // at stop, before running statements are cancelled

  // For LISTEN and migrations.
  connect_settings session() const;
};

enum class lane {
  normal,
  priority,  // housekeeping: has a connection of its own, is never stuck behind users' queries
};

// Whether work is run once more when its connection broke.
enum class repeat { never, after_loss };

class database {
 public:
  explicit database(settings s);  // starts to connect; throws failure for an unreadable url
  ~database();                    // stop()
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  // Runs work on a worker thread, exactly once (repeat::after_loss: at most twice), also while the
  // database is away: its statements throw RY_UNAVAILABLE then. What work throws is logged. The
  // connection starts with schema core. After stop() work runs inside this call, with a connection
  // that is closed. [any]
  void submit(std::function<void(connection&)> work, lane l = lane::normal,
              repeat r = repeat::never);

  // At least one worker is connected. [any]
  bool healthy() const noexcept;
  // It answers a trivial statement within the time. Blocks for at most that long; see liveness.hpp. [any]
  bool responsive(std::chrono::milliseconds limit) const;
  // Waits for healthy(). False: not within the time.
  bool wait_healthy(std::chrono::milliseconds timeout) const;
  // Within the last minute it refused work for want of disk space or another resource; the log has its reason. [any]
  bool short_of_resources() const;
  // The latest failure to connect, for people; empty when there was none. [any]
  std::string last_error() const;
  const connect_settings& connect() const noexcept;
  pool_stats stats() const;  // [any]

  // Hints. `fn` runs on an internal thread (post from it, do not block) after a hint by any node,
  // every `poll`, and whenever hints may have been lost. Returns an id for unlisten; no call of fn
  // starts after unlisten returned (do not call unlisten from fn). Throws failure for a channel
  // name over 63 bytes. [any]
  std::uint64_t listen(std::string_view channel, std::function<void()> fn,
                       std::chrono::milliseconds poll = std::chrono::milliseconds(1000));
  void unlisten(std::uint64_t id);
  // Local subscribers at once, other nodes within about 10 ms, merged. [any]
  void hint(std::string_view channel);

  // Short messages to the other nodes, at most once and without history: fn runs on the internal
  // thread, as for listen, with what another process broadcast. Payload: at most 7900 bytes of
  // text. [any]
  std::uint64_t on_message(std::string_view channel, std::function<void(std::string_view)> fn);
  void broadcast(std::string_view channel, std::string payload);

  // Finishes what is queued and running, cancels what takes longer than settings.drain, closes.
  // Once.
  void stop();

  class impl;
  impl& internals() noexcept { return *impl_; }

 private:
  std::unique_ptr<impl> impl_;
};

// The table of ry.db/1. Answers RY_UNAVAILABLE when the host has no database.
const ry_db_v1* table() noexcept;

}  // namespace ry::db

// The process's access to PostgreSQL: a fixed set of worker threads with one connection each. Callers submit work and
// never block. Created before the first module and destroyed after the last one.
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
#include "core/db/settings.hpp"

namespace ry::db {

class database {
 public:
  explicit database(settings s);  // starts to connect; throws failure for an invalid url
  ~database();  // stop()
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  // Runs work on a worker thread, exactly once (repeat::after_loss: at most twice). It also runs while the database
  // is unavailable; its statements then throw RY_UNAVAILABLE. Exceptions of work are logged. The connection starts
  // with schema core. After stop(), work runs within this call, with a closed connection. [any]
  void submit(std::function<void(connection&)> work, priority l = priority::normal, repeat r = repeat::never);

  // At least one worker is connected. [any]
  bool healthy() const noexcept;
  // True if the database answers a trivial statement within the limit. Blocks for at most that long; see
  // liveness.hpp. [any]
  bool responsive(std::chrono::milliseconds limit) const;
  // Waits for healthy(). Returns false on timeout.
  bool wait_healthy(std::chrono::milliseconds timeout) const;
  // True if the database refused work within the last minute, for lack of disk space or another resource or because
  // it is read-only; the log has its reason. [any]
  bool short_of_resources() const;
  // The latest connection error, for people; empty if there was none. [any]
  std::string last_error() const;
  const connect_settings& connect() const noexcept;
  pool_stats stats() const;  // [any]

  // Wake-ups have no payload. `fn` runs on an internal thread (it must post and not block) after a wake-up from any
  // node, every `poll`, and whenever wake-ups may have been lost. Returns an id for unlisten(). After unlisten() has
  // returned, no call of fn starts; do not call unlisten() from fn. Throws failure for a channel name over 63 bytes.
  // [any]
  std::uint64_t listen(std::string_view channel, std::function<void()> fn,
                       std::chrono::milliseconds poll = std::chrono::milliseconds(1000));
  void unlisten(std::uint64_t id);
  // Local subscribers get the wake-up immediately, other nodes within about 10 ms; wake-ups are merged. [any]
  void notify(std::string_view channel);

  // Broadcasts short messages to other nodes, with at-most-once delivery and no history. fn runs on the internal
  // thread, as for listen(), for messages of other processes. Payload: at most 7900 bytes of text. [any]
  std::uint64_t on_message(std::string_view channel, std::function<void(std::string_view)> fn);
  void broadcast(std::string_view channel, std::string payload);

  // Finishes queued and running work, cancels statements that exceed settings.drain, and closes the connections. Call
  // once.
  void stop();

  class impl;
  impl& internals() noexcept { return *impl_; }

 private:
  std::unique_ptr<impl> impl_;
};

// The ABI table of ry.db/1. Its functions return RY_UNAVAILABLE if the host has no database. [any]
const ry_db_v1& db_v1() noexcept;

}  // namespace ry::db

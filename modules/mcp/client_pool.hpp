// Connection pool: clients of servers whose configuration has "reuse", connected and past the handshake. A client
// serves one operation at a time, only on the executor where it was created, and only for the same configuration with
// the same credentials.
//
// Clients that are idle for too long are closed. take() does not return a client whose connection has ended. If a limit
// is exceeded, the client that has been idle longest is evicted. A limit of 0 clients disables the pool. Any thread.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "client.hpp"
#include "settings.hpp"

namespace mcp {

class client_pool {
 public:
  client_pool(const ry::context& ctx, pool_limits limits) : ctx_(ctx), limits_(limits) {}
  client_pool(const client_pool&) = delete;
  client_pool& operator=(const client_pool&) = delete;

  // Takes an idle client for this server, the most recently returned first; nullptr if there is none.
  std::unique_ptr<client> take(const server& s, ry_exec* exec);
  // The executor of an idle client with that key; nullptr if there is none.
  ry_exec* executor_of(const std::string& key) const;
  // Returns a client to the pool, on the client's executor. A client that the pool does not accept is closed.
  void put(std::unique_ptr<client> c) noexcept;

  // Evicts the account's client that has been idle longest, asynchronously. False if it has none.
  bool close_idle(const std::string& account) noexcept;
  // Evicts the client of any account that has been idle longest.
  void close_any_idle() noexcept;
  // Closes the clients of the session of a run or thread, asynchronously.
  void close_session(const std::string& session) noexcept;
  // Closes all idle clients, asynchronously.
  void clear() noexcept;
  std::size_t size() const;

 private:
  struct entry {
    client_pool* pool;
    std::unique_ptr<client> c;
    ry_op_id timer = 0;
    bool closing = false;  // its timer was cancelled and closes the client soon
  };
  // The timer of an entry: fires exactly once on the client's executor, in all cases, and frees the entry.
  static void on_timer(void* p, ry_status st, const ry_error_view* err) noexcept;
  void close_idle(entry& e) noexcept;
  // Evicts clients until one more of this account fits.
  void evict_for(const std::string& account);

  const ry::context& ctx_;
  const pool_limits limits_;
  mutable std::mutex mutex_;
  std::list<entry*> idle_;  // the client that has been idle longest first
};

}  // namespace mcp

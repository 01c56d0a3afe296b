// Clients of servers whose configuration allows it ("reuse"): connected, past the handshake, waiting for
// their next piece of work. One serves one piece of work at a time, only on the executor where it was
// made, and only for the same configuration with the same credentials.
//
// A client that waited for too long is closed, one whose connection ended is not handed out. What is
// more than the limits allow goes, the longest waiting first; a limit of 0 keeps none. Any thread.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "client.hpp"
#include "settings.hpp"

namespace mcp {

class kept_clients {
 public:
  kept_clients(const ry::context& ctx, kept_limits limits) : ctx_(ctx), limits_(limits) {}
  kept_clients(const kept_clients&) = delete;
  kept_clients& operator=(const kept_clients&) = delete;

  // One that waits for work with this server, the last that was given first; nullptr: there is none.
  std::unique_ptr<client> take(const server& s, ry_exec* exec);
  // The executor of one that waits under that key; nullptr: there is none.
  ry_exec* home_of(const std::string& key) const;
  // Takes over a client that is done with its work, on its executor. It is closed at once when it
  // cannot be kept.
  void give(std::unique_ptr<client> c) noexcept;

  // Closes the account's one that has waited longest, soon. False: it has none.
  bool let_go(const std::string& account) noexcept;
  // The same of all accounts.
  void let_go_any() noexcept;
  // Closes those of the session of a run or thread, soon.
  void end_session(const std::string& session) noexcept;
  // Closes all that wait, soon.
  void clear() noexcept;
  std::size_t size() const;

 private:
  struct entry {
    kept_clients* of;
    std::unique_ptr<client> c;
    std::int64_t since_us = 0;
    ry_op_id timer = 0;
    bool leaving = false;  // its timer has been called off and closes it soon
  };
  // The timer of an entry: rings once on the client's executor, whatever became of the entry, and frees it.
  static void rang(void* p, ry_status st, const ry_error_view* err) noexcept;
  void let_go(entry& e) noexcept;
  // For one more.
  void make_room(const std::string& account);

  const ry::context& ctx_;
  const kept_limits limits_;
  mutable std::mutex mutex_;
  std::list<entry*> waiting_;  // the longest first
};

}  // namespace mcp

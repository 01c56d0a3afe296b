// One connection to PostgreSQL, used by one thread at a time. SOCI opens, owns and reconnects it; statements use the
// native libpq handle in pipeline mode (README.md gives the reasons).
#pragma once

#include <ry/if/db.h>

#include <atomic>
#include <chrono>
#include <initializer_list>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/db/call.hpp"
#include "core/db/failure.hpp"
#include "core/db/rows.hpp"
#include "core/db/session_opener.hpp"
#include "core/db/value.hpp"

struct pg_conn;
struct pg_cancel;
namespace soci {
class session;
}

namespace ry::db {

// The kind of server at an address. Behind a pooler in transaction mode, each transaction may run in a different
// server session: nothing is prepared, and settings apply to one transaction only.
enum class endpoint { server, transaction_pooler };

// An address that a reload of the configuration can change. New connections use the new address; open ones stay.
// [any]
class live_url {
 public:
  explicit live_url(std::string url) : url_(std::move(url)) {}
  std::string get() const {
    std::lock_guard lock(mutex_);
    return url_;
  }
  // Returns false if the address is unchanged.
  bool set(std::string url) {
    std::lock_guard lock(mutex_);
    return std::exchange(url_, url) != url;
  }

 private:
  mutable std::mutex mutex_;
  std::string url_;
};

struct connect_settings {
  std::string url;  // libpq URL or key=value text
  std::shared_ptr<live_url> live;  // replaces url if set
  endpoint at = endpoint::server;
  std::string application_name = "runyard";
  std::chrono::milliseconds statement_timeout{30'000};
  std::chrono::milliseconds transaction_timeout{10'000};  // idle in an open transaction
};

// libpq key=value text: the url with our timeouts and keepalives and, for a server, the session settings. For a
// server or several hosts it requires a writable server unless the url sets target_session_attrs.
// Throws failure (RY_INVALID_ARGUMENT) if libpq cannot parse the url.
// session_settings::later omits the session settings, for poolers that reject them as startup parameters.
enum class session_settings { with_start, later };
std::string conninfo(const connect_settings& settings, session_settings when = session_settings::with_start);
// One of the servers that a conninfo names, as libpq reports it.
struct server_name {
  std::string host, address, port;
};
// The same conninfo with `server` moved behind all other hosts.
std::string tried_last(const std::string& conninfo, const server_name& server);

// Formats libpq key=value text with quoted values.
std::string conninfo_text(std::span<const std::pair<std::string, std::string>> all);

// The server's own timeout for idle transactions; longer than ours, so that ours applies first.
std::chrono::milliseconds idle_limit(const connect_settings& settings);

struct statement {
  std::string_view sql;
  std::span<const ry_value> params{};
};

class transaction;

class connection {
 public:
  explicit connection(connect_settings settings);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  // ---- for work passed to database::submit; all throw failure ----------------------------------

  // Unqualified names resolve in `schema`, then in core. Needs no round trip.
  void use_schema(std::string_view schema) { schema_ = schema; }
  // Applies to the following statements; 0 = the default.
  void use_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  // Runs one prepared statement; outside of a transaction it is its own transaction.
  rows exec(std::string_view sql, std::initializer_list<ry_value> params = {}, std::uint32_t flags = 0);
  rows exec(std::string_view sql, std::span<const ry_value> params, std::uint32_t flags = 0);
  // Runs all statements in one round trip; outside of a transaction they are atomic.
  std::vector<rows> exec_all(std::span<const statement> statements);
  // Runs several statements separated by semicolons, without parameters and unprepared. They are one transaction
  // unless the text itself contains transaction commands.
  void exec_script(std::string_view text);
  // BEGIN is sent with the first statement. flags: RY_TX_*.
  transaction begin(std::uint32_t flags = 0);

  // Runs fn in a transaction and commits; repeats both up to 5 times after a serialization failure or deadlock
  // (40001, 40P01). fn must have no side effects outside of the database.
  template <class F>
  auto with_retry(F&& fn, std::uint32_t tx_flags = 0);

  // ---- internal to core/db ----------------------------------------------------------------------

  // Calls that form one implicit transaction; run() fills in the outcome.
  struct unit {
    std::span<const call> calls;
    std::vector<rows> results;  // one per call unless failed
    std::optional<failure> error;
    bool tried = false;  // was sent over an open connection
    bool surely_undone = false;  // failed, and certainly not committed
    const void* tag = nullptr;  // identifies it for cancel_if()
    std::string trace;  // trace of the jobs it creates, see observe::kept_text(); may be empty
    const std::atomic<bool>* cancelled = nullptr;  // set when its caller cancels it
  };
  // Sends all units in one write and reads all results. Never throws failure.
  void run(std::span<unit*> units);
  // run() for one unit, repeated where that is safe: after serialization failures, stale plans, and lost connections
  // if the unit is read-only or was certainly not committed. retry_failed() continues after a first attempt with
  // run().
  void run_with_retry(unit& u);
  void retry_failed(unit& u);

  void open();  // throws failure; closes an open connection first
  void close() noexcept;
  bool is_open() const noexcept;
  // Checks without a round trip whether the server has closed the connection, and then closes it. True if open.
  bool check_alive() noexcept;
  int server_version() const noexcept;
  int backend_pid() const noexcept;
  // True if a pooler answers instead of the server, so that the session is not exclusively ours. Valid after open().
  bool behind_pooler() const noexcept { return behind_pooler_; }
  pg_conn* native() noexcept { return pg_; }
  // Asks the server to cancel the running statement if it belongs to the unit with this tag (nullptr: any unit). From
  // any thread. Blocks for at most `cancel_limit`, then severs the connection: a server that accepts no cancel request
  // does not respond to anything else either.
  void cancel_if(const void* tag) noexcept;
  static constexpr std::chrono::milliseconds cancel_limit{2'000};

  // The connection's state for the watchdog; times of the steady clock in ms. From any thread.
  struct activity {
    std::int64_t busy_since = 0;  // 0: not waiting for an answer
    std::int64_t due = 0;  // by then the server ends the work itself; 0: no limit
    std::int64_t answered = 0;  // when the latest work ended
    std::string server;  // conninfo of the connected server only; empty: not connected
  };
  activity now_doing() const;
  // Shuts down the socket: work that waits for a result fails with a lost connection. From any thread; does not
  // block.
  void sever() noexcept;

 private:
  friend class transaction;
  struct plan {
    std::string key, name;
  };
  using plan_list = std::list<plan>;

  std::vector<rows> settled(std::span<const call> calls);
  struct command;
  using commands = std::vector<command>;
  bool send(unit& u, commands& log);
  bool send_state(std::string_view schema, std::chrono::milliseconds timeout, commands& log);
  bool send_local_state(std::string_view schema, std::chrono::milliseconds timeout, unit& u, commands& log);
  bool send_plain(const char* sql);
  bool send_call(const call& c, unit& u, commands& log);
  void read(std::span<unit*> units, commands& log);
  void fail_unread(std::span<unit*> units, std::size_t from, const failure& why);
  const std::string& plan_for(const call& c, bool& is_new);
  void forget(std::string_view key);
  void set_running(const void* tag, bool busy) noexcept;
  std::chrono::milliseconds limit_of(const unit& u) const noexcept;
  void expect_answer(std::span<unit*> units) noexcept;
  std::optional<failure> leave_stray_transaction();
  void cancel_when_asked(const unit& u) noexcept;
  bool stray_cancel() const noexcept;
  void end_transaction(const char* sql);
  bool pooled() const noexcept { return settings_.at == endpoint::transaction_pooler; }
  static void on_notice(void* self, const pg_result* notice);
  void connect();
  // Detects a pooler and applies the session settings that a pooler in session mode rejects at startup.
  void look_for_pooler();

  const connect_settings settings_;
  std::string conninfo_;
  session_opener opener_;
  std::unique_ptr<soci::session> session_;
  pg_conn* pg_ = nullptr;

  plan_list plans_;  // most recently used first
  std::unordered_map<std::string_view, plan_list::iterator> by_key_;
  std::vector<std::string> dropped_;  // names to deallocate with the next unit
  std::uint64_t next_name_ = 0;

  std::string schema_ = "core";
  std::chrono::milliseconds timeout_{};
  // Schema and timeout of the server session (behind a pooler: of the open transaction); nullopt: unknown.
  std::optional<std::pair<std::string, std::chrono::milliseconds>> state_;
  bool behind_pooler_ = false;
  session_settings when_ = session_settings::with_start;
  bool in_transaction_ = false;
  bool fatal_notice_ = false;
  bool failed_before_ = false;
  std::string pending_begin_;
  bool read_only_ = false;  // the open transaction is read-only

  std::mutex cancel_mutex_;
  std::shared_ptr<pg_cancel> cancel_;
  const void* running_ = nullptr;
  bool busy_ = false;
  std::atomic<std::int64_t> cancelled_at_ms_{0};

  mutable std::mutex socket_mutex_;  // guards socket_, doing_, server_ and severed_
  server_name server_;  // of the latest session
  std::optional<server_name> severed_;  // the server last severed; the others are tried first
  int socket_ = -1;
  activity doing_;
};

// Rolls back on destruction unless committed. Must not outlive its connection; one at a time per connection.
class transaction {
 public:
  transaction(transaction&& o) noexcept : conn_(std::exchange(o.conn_, nullptr)) {}
  transaction& operator=(transaction&&) = delete;
  ~transaction();
  void commit();  // throws failure
  void rollback();  // throws failure

 private:
  friend class connection;
  explicit transaction(connection& c) : conn_(&c) {}
  connection* conn_;
};

// Repeats fn after serialization failures, up to 5 attempts with growing random delays. Throws the last failure.
template <class F>
auto with_retry(F&& fn);
void wait_before_retry(int attempt);
inline constexpr int max_attempts = 5;

template <class F>
auto with_retry(F&& fn) {
  for (int attempt = 1;; ++attempt) {
    try {
      return fn();
    } catch (const failure& f) {
      if (!f.serialisation() || attempt == max_attempts) throw;
    }
    wait_before_retry(attempt);
  }
}

template <class F>
auto connection::with_retry(F&& fn, std::uint32_t tx_flags) {
  return db::with_retry([&] {
    auto tx = begin(tx_flags);
    if constexpr (std::is_void_v<decltype(fn())>) {
      fn();
      tx.commit();
    } else {
      auto out = fn();
      tx.commit();
      return out;
    }
  });
}

}  // namespace ry::db

// One connection to PostgreSQL, used by one thread at a time. SOCI opens, owns and reconnects it;
// statements go through the backend's native handle in libpq's pipeline mode (README.md says why).
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

// What answers at an address. Behind a pooler in transaction mode each transaction may meet another
// session of the server: nothing is prepared, and settings are made for one transaction at a time.
enum class endpoint { server, transaction_pooler };

// An address that may change while connections live, when the configuration is read again: those that are opened from then
// on use the new one. [any]
class live_url {
 public:
  explicit live_url(std::string url) : url_(std::move(url)) {}
  std::string get() const {
    std::lock_guard lock(mutex_);
    return url_;
  }
  // False: it is the same.
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
  std::shared_ptr<live_url> live;  // in the place of url, if it is there
  endpoint at = endpoint::server;
  std::string application_name = "runyard";
  std::chrono::milliseconds statement_timeout{30'000};
  std::chrono::milliseconds transaction_timeout{10'000};  // idle in an open transaction
};

// libpq key=value text: the url with our time-outs and keepalives and, for a server, session settings
// added. Of several hosts the one that can be written to is meant, if the url does not say
// otherwise.
// Throws failure (RY_INVALID_ARGUMENT) when libpq cannot read the url.
// `session_settings` no: without those, for what does not take them at the start of a session.
enum class session_settings { with_start, later };
std::string conninfo(const connect_settings& settings, session_settings when = session_settings::with_start);
// One server of several that a conninfo names, as libpq says it.
struct server_name {
  std::string host, address, port;
};
// The same conninfo, with that server behind all others.
std::string asked_last(const std::string& conninfo, const server_name& server);

// libpq key=value text; values in quotes.
std::string conninfo_text(std::span<const std::pair<std::string, std::string>> all);

// After which the server ends an idle transaction by itself: our own limit comes first.
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

  // ---- for work given to database::submit; all throw failure -----------------------------------

  // Unqualified names are looked up in `schema`, then in core. Costs no round trip.
  void use_schema(std::string_view schema) { schema_ = schema; }
  // For the statements that follow; 0 = the default.
  void use_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  // Runs one prepared statement. Alone it is a transaction of its own.
  rows exec(std::string_view sql, std::initializer_list<ry_value> params = {},
            std::uint32_t flags = 0);
  rows exec(std::string_view sql, std::span<const ry_value> params, std::uint32_t flags = 0);
  // All in one round trip and, outside of a transaction, all or nothing.
  std::vector<rows> exec_all(std::span<const statement> statements);
  // Several statements separated by semicolons, without parameters; not prepared. One transaction
  // unless the text itself says otherwise.
  void exec_script(std::string_view text);
  // BEGIN travels with the first statement. flags: RY_TX_*.
  transaction begin(std::uint32_t flags = 0);

  // Runs fn in a transaction and commits; repeats it all up to 5 times when it lost a race (40001,
  // 40P01). fn must have no effect outside of the database.
  template <class F>
  auto with_retry(F&& fn, std::uint32_t tx_flags = 0);

  // ---- for the room itself
  // -----------------------------------------------------------------------

  // Calls that are one implicit transaction; filled by run().
  struct unit {
    std::span<const call> calls;
    std::vector<rows> results;  // one per call unless failed
    std::optional<failure> error;
    bool tried = false;          // handed to an open connection
    bool surely_undone = false;  // failed, and nothing of it can have been committed
    const void* tag = nullptr;   // names it for cancel_if()
    std::string trace;           // what jobs born in it belong to, see observe::kept_text(); empty: nothing
    const std::atomic<bool>* cancelled = nullptr;  // its caller wants it to end early
  };
  // Sends all units in one go and reads all answers. Never throws failure.
  void run(std::span<unit*> units);
  // run() for one unit with what can be repeated safely: lost races, stale plans, lost connections
  // when the unit is read-only or was surely undone. `first` = false: it has been tried once
  // already.
  void run_with_retry(unit& u);
  void retry_failed(unit& u);

  void open();  // throws failure; closes first when open
  void close() noexcept;
  bool is_open() const noexcept;
  // Looks, without a round trip, whether the server has hung up; closes then. True when open.
  bool check_alive() noexcept;
  int server_version() const noexcept;
  int backend_pid() const noexcept;
  // Something else than the server itself answers: its session is not this connection's by itself. Once it was open.
  bool behind_pooler() const noexcept { return behind_pooler_; }
  pg_conn* native() noexcept { return pg_; }
  // Asks the server to stop the statement now running if it belongs to the unit of that tag; any
  // unit when nullptr. From any thread; blocks for `cancel_limit` at most, then the connection is
  // severed: a server that takes no cancellation answers nothing else.
  void cancel_if(const void* tag) noexcept;
  static constexpr std::chrono::milliseconds cancel_limit{2'000};

  // What a watchdog sees; times of the steady clock in ms. From any thread.
  struct activity {
    std::int64_t busy_since = 0;  // 0: waits for no answer
    std::int64_t due = 0;         // the server ends the work itself before; 0: no limit
    std::int64_t answered = 0;    // end of the latest work
    std::string server;           // conninfo that names this one of several; empty: not connected
  };
  activity now_doing() const;
  // Breaks the connection under whoever waits for its answers: the work fails as after a loss.
  // From any thread, does not block.
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
  bool send_local_state(std::string_view schema, std::chrono::milliseconds timeout, unit& u,
                        commands& log);
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
  // A pooler in session mode may take no settings with the start of a session.
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
  // What the server's session has, behind a pooler its open transaction; nullopt: not known.
  std::optional<std::pair<std::string, std::chrono::milliseconds>> state_;
  bool behind_pooler_ = false;
  session_settings when_ = session_settings::with_start;
  bool in_transaction_ = false;
  bool fatal_notice_ = false;
  bool failed_before_ = false;
  std::string pending_begin_;
  bool read_only_ = false;  // the open transaction was begun as read only

  std::mutex cancel_mutex_;
  std::shared_ptr<pg_cancel> cancel_;
  const void* running_ = nullptr;
  bool busy_ = false;
  std::atomic<std::int64_t> cancelled_at_ms_{0};

  mutable std::mutex socket_mutex_;  // guards socket_, doing_, server_ and left_
  server_name server_;               // of the last session
  std::optional<server_name> left_;  // the last that was severed: others are asked first
  int socket_ = -1;
  activity doing_;
};

// Rolls back unless committed. Lives no longer than its connection; one at a time per connection.
class transaction {
 public:
  transaction(transaction&& o) noexcept : conn_(std::exchange(o.conn_, nullptr)) {}
  transaction& operator=(transaction&&) = delete;
  ~transaction();
  void commit();    // throws failure
  void rollback();  // throws failure

 private:
  friend class connection;
  explicit transaction(connection& c) : conn_(&c) {}
  connection* conn_;
};

// Calls fn until it does not lose a race any more, at most 5 times, waiting a little longer, at
// random, between the attempts. The last failure is thrown.
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

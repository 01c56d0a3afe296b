#include "core/db/connection.hpp"

#include <libpq-fe.h>
#include <poll.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/session.h>
#include <sys/socket.h>

#include <algorithm>
#include <future>
#include <thread>

#include "core/db/clock.hpp"
#include "core/db/pq.hpp"
#include "core/observe/log.hpp"

namespace ry::db {

namespace {

using namespace std::chrono_literals;
constexpr std::size_t max_plans = 256;

std::string search_path(std::string_view schema) {
  if (schema.empty() || schema == "core") return "core";
  std::string out = "\"";
  for (const char c : schema) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out + "\", core";
}

// The server rejects a prepared plan although the SQL is valid: another session changed the tables, or the server no
// longer has the statement.
bool stale_plan(const failure& f) {
  return f.is("26000") || (f.is("0A000") && f.server_message.find("cached plan") != std::string::npos);
}

constexpr std::string_view read_only_state = "25006";

// The server is read-only, as after a failover; a new connection may reach a writable server.
failure not_writable(const failure& f) {
  failure out({RY_UNAVAILABLE, "db.read_only", "The database is not available at the moment.", {}, 0, 1}, f.sqlstate,
              f.server_message);
  out.connection_lost = true;
  return out;
}

const char set_state_sql[] = "select set_config('search_path', $1, false), set_config('statement_timeout', $2, false)";

// The session settings of conninfo(), for one transaction only.
const char set_local_state_sql[] =
    "select set_config('search_path', $1, true), set_config('statement_timeout', $2, true),"
    " set_config('idle_in_transaction_session_timeout', $3, true),"
    " set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true),"
    " set_config('intervalstyle', 'postgres', true), set_config('bytea_output', 'hex', true),"
    " set_config('standard_conforming_strings', 'on', true), set_config('jit', 'off', true)";

// The session settings of conninfo(), for a session that started without them.
const char set_session_sql[] =
    "select set_config('statement_timeout', $1, false), set_config('idle_in_transaction_session_timeout', $2, false),"
    " set_config('timezone', 'UTC', false), set_config('datestyle', 'ISO', false),"
    " set_config('intervalstyle', 'postgres', false), set_config('bytea_output', 'hex', false),"
    " set_config('standard_conforming_strings', 'on', false), set_config('jit', 'off', false)";

}  // namespace

struct connection::command {
  enum kind_t { own, begin, prepare, exec, sync } kind;
  unit* of = nullptr;  // nullptr: issued by the connection itself
  const call* what = nullptr;  // of a prepare
};

connection::connection(connect_settings settings) : settings_(std::move(settings)), conninfo_(conninfo(settings_)) {}

connection::~connection() {
  close();
}

void connection::on_notice(void* self, const pg_result* notice) {
  const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  const char* text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  if (severity && std::string_view(severity) == "FATAL") static_cast<connection*>(self)->fatal_notice_ = true;
  if (text && observe::log_enabled(observe::level::debug))
    observe::log(observe::level::debug, "db", text, {{"severity", severity ? severity : ""}});
}

void connection::open() {
  close();
  if (settings_.live || when_ == session_settings::later) conninfo_ = conninfo(settings_, when_);
  try {
    connect();
  } catch (const failure& f) {
    // The wording of PgBouncer; a PostgreSQL server accepts these parameters.
    const bool refused = f.server_message.find("unsupported startup parameter") != std::string::npos;
    if (!refused || pooled() || when_ == session_settings::later) throw;
    when_ = session_settings::later;
    conninfo_ = conninfo(settings_, when_);
    connect();
  }
  look_for_pooler();
  if (!PQenterPipelineMode(pg_)) {
    close();
    throw unavailable("cannot enter pipeline mode");
  }
}

void connection::look_for_pooler() {
  if (pooled()) return;
  const result_ptr own(PQexec(pg_, "select pg_backend_pid()"));
  if (!own || PQresultStatus(own.get()) != PGRES_TUPLES_OK) {
    const std::string why = PQerrorMessage(pg_);
    close();
    throw unavailable(why);
  }
  behind_pooler_ = std::to_string(PQbackendPID(pg_)) != PQgetvalue(own.get(), 0, 0);
  if (!behind_pooler_ && when_ == session_settings::with_start) return;
  const auto idle = std::to_string(idle_limit(settings_).count());
  const auto limit = std::to_string(settings_.statement_timeout.count());
  const char* values[] = {limit.c_str(), idle.c_str()};
  const result_ptr set(PQexecParams(pg_, set_session_sql, 2, nullptr, values, nullptr, nullptr, 0));
  if (set && PQresultStatus(set.get()) == PGRES_TUPLES_OK) return;
  const std::string why = PQerrorMessage(pg_);
  close();
  throw unavailable(why);
}

void connection::connect() {
  std::optional<server_name> left;
  {
    std::lock_guard lock(socket_mutex_);
    left = severed_;
  }
  session_ = opener_.open(left ? tried_last(conninfo_, *left) : conninfo_);
  pg_ = static_cast<soci::postgresql_session_backend*>(session_->get_backend())->conn_;
  PQsetNoticeReceiver(pg_, &connection::on_notice, this);
  {
    const auto text = [](const char* s) { return std::string(s ? s : ""); };
    const server_name name{text(PQhost(pg_)), text(PQhostaddr(pg_)), text(PQport(pg_))};
    const std::pair<std::string, std::string> server[] = {
        {"host", name.host}, {"hostaddr", name.address}, {"port", name.port}, {"target_session_attrs", "any"}};
    std::lock_guard lock(socket_mutex_);
    socket_ = PQsocket(pg_);
    server_ = name;
    doing_.server = conninfo_text(server);
  }
  std::lock_guard lock(cancel_mutex_);
  cancel_.reset(PQgetCancel(pg_), PQfreeCancel);
}

void connection::close() noexcept {
  {
    std::lock_guard lock(cancel_mutex_);
    cancel_.reset();
    busy_ = false;
  }
  {
    std::lock_guard lock(socket_mutex_);
    socket_ = -1;
    doing_.server.clear();
  }
  pg_ = nullptr;
  session_.reset();
  by_key_.clear();
  plans_.clear();
  dropped_.clear();
  state_.reset();
  pending_begin_.clear();
  in_transaction_ = fatal_notice_ = false;
}

bool connection::is_open() const noexcept {
  return pg_ && PQstatus(pg_) == CONNECTION_OK;
}

bool connection::check_alive() noexcept {
  for (int i = 0; i < 8 && is_open() && !fatal_notice_; ++i) {
    pollfd p{PQsocket(pg_), POLLIN, 0};
    if (::poll(&p, 1, 0) <= 0) return true;
    if (!PQconsumeInput(pg_)) break;
    PQisBusy(pg_);  // processes notices and parameter changes
  }
  if (is_open() && !fatal_notice_) return true;
  if (pg_) close();
  return false;
}

int connection::server_version() const noexcept {
  return pg_ ? PQserverVersion(pg_) : 0;
}
int connection::backend_pid() const noexcept {
  return pg_ ? PQbackendPID(pg_) : 0;
}

void connection::set_running(const void* tag, bool busy) noexcept {
  {
    std::lock_guard lock(socket_mutex_);
    const auto now = now_ms();
    doing_.busy_since = busy ? now : 0;
    doing_.due = 0;
    if (!busy) doing_.answered = now;
  }
  std::lock_guard lock(cancel_mutex_);
  running_ = tag;
  busy_ = busy;
}

void connection::expect_answer(std::span<unit*> units) noexcept {
  auto most = 0ms;
  for (const auto* u : units) {
    const auto limit = limit_of(*u);
    if (limit <= 0ms) return;
    most += limit * static_cast<int>(std::max<std::size_t>(1, u->calls.size()));
  }
  std::lock_guard lock(socket_mutex_);
  doing_.due = doing_.busy_since + most.count();
}

connection::activity connection::now_doing() const {
  std::lock_guard lock(socket_mutex_);
  return doing_;
}

void connection::sever() noexcept {
  opener_.abandon();
  std::lock_guard lock(socket_mutex_);
  if (socket_ < 0) return;
  ::shutdown(socket_, SHUT_RDWR);
  severed_ = server_;
}

void connection::cancel_if(const void* tag) noexcept {
  std::lock_guard lock(cancel_mutex_);
  if (!cancel_ || !busy_ || (tag && running_ != tag)) return;
  cancelled_at_ms_ = now_ms();
  try {
    // PQcancel waits without a time limit until the server closes the cancel connection, so call it on a detached
    // thread.
    std::promise<void> finished;
    auto done = finished.get_future();
    std::thread([cancel = cancel_, finished = std::move(finished)]() mutable {
      char text[256];
      PQcancel(cancel.get(), text, sizeof text);
      finished.set_value();
    }).detach();
    if (done.wait_for(cancel_limit) == std::future_status::ready) return;
  } catch (const std::exception& e) {
    observe::log(observe::level::warn, "db", "a statement cannot be cancelled", {{"error", e.what()}});
  }
  sever();
}

// The cancellation may have been requested before its unit was marked as running.
void connection::cancel_when_asked(const unit& u) noexcept {
  if (u.cancelled && *u.cancelled) cancel_if(u.tag);
}

// Cancellation is asynchronous: it can hit the statement after the intended one.
bool connection::stray_cancel() const noexcept {
  return now_ms() - cancelled_at_ms_ < 1000;
}

// ---- sending
// ---------------------------------------------------------------------------------------

const std::string& connection::plan_for(const call& c, bool& is_new) {
  if (const auto it = by_key_.find(c.key()); it != by_key_.end()) {
    plans_.splice(plans_.begin(), plans_, it->second);
    is_new = false;
    return plans_.front().name;
  }
  if (plans_.size() >= max_plans) {
    dropped_.push_back(std::move(plans_.back().name));
    by_key_.erase(plans_.back().key);
    plans_.pop_back();
  }
  plans_.push_front({std::string(c.key()), "s" + std::to_string(++next_name_)});
  by_key_.emplace(plans_.front().key, plans_.begin());
  is_new = true;
  return plans_.front().name;
}

void connection::forget(std::string_view key) {
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return;
  const auto at = it->second;
  by_key_.erase(it);
  plans_.erase(at);
}

bool connection::send_plain(const char* sql) {
  return PQsendQueryParams(pg_, sql, 0, nullptr, nullptr, nullptr, nullptr, 0);
}

bool connection::send_call(const call& c, unit& u, commands& log) {
  if (pooled() || (c.flags() & RY_DB_NO_PREPARE)) {
    log.push_back({command::exec, &u, nullptr});
    return PQsendQueryParams(pg_, c.sql(), c.size(), c.types(), c.values(), c.lengths(), c.formats(), 0);
  }
  bool is_new = false;
  const auto& name = plan_for(c, is_new);
  if (is_new) {
    log.push_back({command::prepare, &u, &c});
    if (!PQsendPrepare(pg_, name.c_str(), c.sql(), c.size(), c.types())) return false;
  }
  log.push_back({command::exec, &u, nullptr});
  return PQsendQueryPrepared(pg_, name.c_str(), c.size(), c.values(), c.lengths(), c.formats(), 0);
}

// Sent in a separate pipeline segment, so that an error of the unit does not undo it.
bool connection::send_state(std::string_view schema, std::chrono::milliseconds timeout, commands& log) {
  const ry_value params[] = {value::null(), value::null()};
  call c("", set_state_sql, params);
  const auto path = search_path(schema), limit = std::to_string(timeout.count());
  const char* values[] = {path.c_str(), limit.c_str()};
  bool is_new = false;
  const auto& name = plan_for(c, is_new);
  if (is_new) {
    log.push_back({command::own});
    if (!PQsendPrepare(pg_, name.c_str(), c.sql(), 0, nullptr)) return false;
  }
  log.push_back({command::own});
  log.push_back({command::sync});
  state_.emplace(schema, timeout);
  return PQsendQueryPrepared(pg_, name.c_str(), 2, values, nullptr, nullptr, 0) && PQpipelineSync(pg_);
}

// Sent in the unit's own segment: the settings last as long as that segment or its enclosing transaction.
bool connection::send_local_state(std::string_view schema, std::chrono::milliseconds timeout, unit& u, commands& log) {
  const auto path = search_path(schema), limit = std::to_string(timeout.count());
  const auto idle = std::to_string(idle_limit(settings_).count());
  const char* values[] = {path.c_str(), limit.c_str(), idle.c_str()};
  log.push_back({command::own, &u, nullptr});
  if (in_transaction_) state_.emplace(schema, timeout);
  return PQsendQueryParams(pg_, set_local_state_sql, 3, nullptr, values, nullptr, nullptr, 0);
}

// The server's own limit for the unit's statements; 0: none.
std::chrono::milliseconds connection::limit_of(const unit& u) const noexcept {
  if (std::none_of(u.calls.begin(), u.calls.end(), [](auto& c) { return c.timeout() > 0ms; }))
    return settings_.statement_timeout;
  auto limit = 0ms;
  for (const auto& c : u.calls) limit = std::max(limit, c.timeout() > 0ms ? c.timeout() : settings_.statement_timeout);
  return limit;
}

bool connection::send(unit& u, commands& log) {
  std::vector<std::string> dropped;
  if (!in_transaction_) dropped.swap(dropped_);
  for (const auto& name : dropped) {
    log.push_back({command::own});
    log.push_back({command::sync});
    if (!send_plain(("deallocate " + name).c_str()) || !PQpipelineSync(pg_)) return false;
  }
  const auto timeout = limit_of(u);
  const auto schema = u.calls.empty() ? std::string_view("core") : u.calls.front().schema();
  const bool set = !state_ || state_->first != schema || state_->second != timeout;
  if (set && !pooled() && !send_state(schema, timeout, log)) return false;
  if (!pending_begin_.empty()) {
    log.push_back({command::begin, &u, nullptr});
    if (!send_plain(std::exchange(pending_begin_, {}).c_str())) return false;
  }
  if (set && pooled() && !send_local_state(schema, timeout, u, log)) return false;
  if (!u.trace.empty()) {
    // Set for the transaction; core.job uses it as the default of its trace column.
    const char* values[] = {u.trace.c_str()};
    log.push_back({command::begin, &u, nullptr});
    if (!PQsendQueryParams(pg_, "select set_config('core.trace', $1, true)", 1, nullptr, values, nullptr, nullptr, 0))
      return false;
  }
  for (const auto& c : u.calls)
    if (!send_call(c, u, log)) return false;
  log.push_back({command::sync, &u, nullptr});
  return PQpipelineSync(pg_);
}

// ---- reading
// ---------------------------------------------------------------------------------------

void connection::fail_unread(std::span<unit*> units, std::size_t from, const failure& why) {
  for (std::size_t i = from; i < units.size(); ++i) {
    auto& u = *units[i];
    // The server announces a shutdown before it ends the session. A unit whose statements were not all answered by
    // then was not committed.
    u.surely_undone = why.is("57P01") && u.results.size() < u.calls.size();
    u.results.clear();
    if (!u.error) u.error = why;
    u.error->connection_lost = true;
  }
}

void connection::read(std::span<unit*> units, commands& log) {
  std::size_t at = 0;  // the unit that the next results belong to
  const auto lost = [&](const failure& why) {
    fail_unread(units, at, why);
    close();
  };
  for (const auto& cmd : log) {
    if (cmd.kind == command::sync) {
      for (int guard = 0;; ++guard) {
        result_ptr r(PQgetResult(pg_));
        if (r && PQresultStatus(r.get()) == PGRES_PIPELINE_SYNC) break;
        if (r && has_error(r.get())) {
          auto f = from_result(r.get());
          if (f.connection_lost) return lost(f);
          if (cmd.of && !cmd.of->error)
            cmd.of->error = std::move(f);  // failed at commit, such as a deferred constraint
        } else if (PQstatus(pg_) != CONNECTION_OK || guard > 8) {
          return lost(unavailable(PQerrorMessage(pg_)));
        }
      }
      if (!cmd.of) continue;
      if (cmd.of->error) {
        cmd.of->results.clear();
        cmd.of->surely_undone = true;
      }
      ++at;
      set_running(at < units.size() ? units[at]->tag : nullptr, at < units.size());
      if (at < units.size()) cancel_when_asked(*units[at]);
      continue;
    }
    result_ptr r(PQgetResult(pg_));
    if (!r) return lost(unavailable(PQerrorMessage(pg_)));
    const auto status = PQresultStatus(r.get());
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
      // A COPY cannot be ended inside a pipeline.
      failure f({RY_INVALID_ARGUMENT, "db.copy", "COPY from or to the client is not supported.", {}, 0, 0});
      return lost(f);
    }
    std::optional<failure> error;
    if (status != PGRES_PIPELINE_ABORTED && has_error(r.get())) {
      error = from_result(r.get());
      if (error->connection_lost) return lost(*error);
    }
    for (result_ptr more(PQgetResult(pg_)); more; more.reset(PQgetResult(pg_)))
      if (PQstatus(pg_) != CONNECTION_OK) break;
    const bool failed = error || status == PGRES_PIPELINE_ABORTED;
    if (cmd.kind == command::own) {
      if (!failed) continue;
      state_.reset();
      if (error) observe::log(observe::level::warn, "db", "session set-up failed", {{"error", error->what()}});
    } else if (cmd.kind == command::prepare) {
      if (failed) forget(cmd.what->key());
    } else if (cmd.kind == command::exec && !failed) {
      cmd.of->results.emplace_back(r.release());
    }
    if (error && cmd.of && !cmd.of->error) cmd.of->error = std::move(error);
  }
}

// A caller's SQL opened a transaction that would never end: close the connection.
std::optional<failure> connection::leave_stray_transaction() {
  if (!is_open() || in_transaction_ || PQtransactionStatus(pg_) == PQTRANS_IDLE) return std::nullopt;
  close();
  return failure({RY_INVALID_ARGUMENT,
                  "db.transaction",
                  "A statement must not open a transaction by itself; use begin().",
                  {},
                  0,
                  0});
}

void connection::run(std::span<unit*> units) {
  for (auto* u : units) {
    u->results.clear();
    u->results.reserve(u->calls.size());
    u->error.reset();
    u->surely_undone = false;
    u->tried = is_open();
  }
  if (!is_open()) return fail_unread(units, 0, unavailable("not connected"));
  if (units.empty()) return;
  set_running(units.front()->tag, true);
  expect_answer(units);
  commands log;
  log.reserve(4 * units.size());
  try {
    for (auto* u : units)
      if (!send(*u, log)) break;  // read() reads the pending results and detects the broken connection
    cancel_when_asked(*units.front());
    read(units, log);
  } catch (const std::exception& e) {
    fail_unread(units, 0, unavailable(e.what()));
    close();
  }
  set_running(nullptr, false);
  for (auto* u : units)
    if (u->error && u->error->is(read_only_state) && !(in_transaction_ && read_only_))
      u->error = not_writable(*u->error);
  for (auto* u : units)
    if (!u->error && u->results.size() != u->calls.size())
      fail_unread({&u, 1}, 0, unavailable("the connection broke while sending"));
  if (std::any_of(units.begin(), units.end(), [](auto* u) { return u->error && u->error->connection_lost; })) close();
  const auto stray = leave_stray_transaction();
  if (!stray) return;
  for (auto* u : units) {
    if (u->error) continue;
    u->results.clear();
    u->error = stray;
  }
}

void connection::run_with_retry(unit& u) {
  unit* one = &u;
  run({&one, 1});
  retry_failed(u);
}

void connection::retry_failed(unit& u) {
  int races = 1, strays = 0;
  bool replanned = false, reconnected = false;
  const auto may_repeat = [&] {
    return u.surely_undone || std::all_of(u.calls.begin(), u.calls.end(),
                                          [](const call& c) { return (c.flags() & RY_DB_READ_ONLY) != 0; });
  };
  while (u.error) {
    const auto& f = *u.error;
    if (u.cancelled && *u.cancelled) return;
    if (f.serialisation() && races < max_attempts) {
      wait_before_retry(races++);
    } else if (stale_plan(f) && !replanned) {
      replanned = true;
      for (const auto& c : u.calls) {
        if (const auto it = by_key_.find(c.key()); it != by_key_.end()) {
          if (!f.is("26000")) dropped_.push_back(it->second->name);
          forget(c.key());
        }
      }
    } else if (f.is("57014") && stray_cancel() && strays++ < 3) {
      // The cancellation was meant for another statement.
    } else if (f.connection_lost && u.tried && !reconnected && may_repeat()) {
      reconnected = true;
      try {
        if (!check_alive()) open();
      } catch (const failure&) {
        return;
      }
    } else {
      return;
    }
    unit* one = &u;
    run({&one, 1});
  }
}

}  // namespace ry::db

// The part of connection for work passed to database::submit, and transactions.
#include <libpq-fe.h>

#include <algorithm>
#include <random>
#include <thread>

#include "core/db/connection.hpp"
#include "core/db/pq.hpp"
#include "core/observe/log.hpp"

namespace ry::db {

// Do not retry in an open transaction: after an error it is aborted.
std::vector<rows> connection::settled(std::span<const call> calls) {
  unit u;
  u.calls = calls;
  if (in_transaction_) {
    unit* one = &u;
    run({&one, 1});
  } else {
    run_with_retry(u);
  }
  if (u.error) throw *u.error;
  return std::move(u.results);
}

rows connection::exec(std::string_view sql, std::initializer_list<ry_value> params, std::uint32_t flags) {
  return exec(sql, std::span(params.begin(), params.size()), flags);
}

rows connection::exec(std::string_view sql, std::span<const ry_value> params, std::uint32_t flags) {
  const call c(schema_, sql, params, flags, timeout_);
  return std::move(settled({&c, 1}).front());
}

std::vector<rows> connection::exec_all(std::span<const statement> statements) {
  std::vector<call> calls;
  calls.reserve(statements.size());
  for (const auto& s : statements) calls.emplace_back(schema_, s.sql, s.params, 0, timeout_);
  return settled(calls);
}

void connection::exec_script(std::string_view text) {
  if (pooled() && !in_transaction_) {  // otherwise the script could run in a session without the schema
    auto tx = begin();
    exec_script(text);
    return tx.commit();
  }
  exec("select 1");  // applies the schema and sends a pending BEGIN
  const std::string copy(text);
  if (copy.find('\0') != std::string::npos)
    throw failure({RY_INVALID_ARGUMENT, "db.nul_byte", "A script must not contain a NUL byte.", {}, 0, 0});
  PQexitPipelineMode(pg_);
  set_running(nullptr, true);
  result_ptr r(PQexec(pg_, copy.c_str()));
  set_running(nullptr, false);
  std::optional<failure> error;
  if (!r) {
    error = unavailable(PQerrorMessage(pg_));
  } else if (has_error(r.get())) {
    error = from_result(r.get());
  }
  state_.reset();  // the script may have changed any setting
  if ((error && error->connection_lost) || !PQenterPipelineMode(pg_)) close();
  const auto stray = leave_stray_transaction();
  if (error) throw *error;
  if (stray) throw *stray;
}

transaction connection::begin(std::uint32_t flags) {
  if (in_transaction_)
    throw failure({RY_FAILED_PRECONDITION, "db.transaction", "A transaction is already open.", {}, 0, 0});
  if (!is_open()) throw unavailable("not connected");
  pending_begin_ = "begin";
  if (flags & RY_TX_SERIALIZABLE) pending_begin_ += " isolation level serializable";
  read_only_ = (flags & RY_TX_READ_ONLY) != 0;
  if (read_only_) pending_begin_ += " read only";
  in_transaction_ = true;
  return transaction(*this);
}

void connection::end_transaction(const char* sql) {
  if (!in_transaction_) throw unavailable("the connection broke inside the transaction");
  if (!pending_begin_.empty()) {  // BEGIN was never sent
    pending_begin_.clear();
    in_transaction_ = false;
    return;
  }
  const call c(state_ ? state_->first : schema_, sql, {}, RY_DB_NO_PREPARE, state_ ? state_->second : timeout_);
  unit u;
  u.calls = {&c, 1};
  unit* one = &u;
  run({&one, 1});
  in_transaction_ = false;
  if (pooled()) state_.reset();
  if (u.error) {
    if (is_open() && PQtransactionStatus(pg_) != PQTRANS_IDLE) close();
    throw *u.error;
  }
}

transaction::~transaction() {
  if (!conn_ || !conn_->in_transaction_) return;
  try {
    rollback();
  } catch (const std::exception& e) {
    observe::log(observe::level::debug, "db", "rollback failed", {{"error", e.what()}});
  }
}

void transaction::commit() {
  auto* c = std::exchange(conn_, nullptr);
  if (!c) throw failure({RY_FAILED_PRECONDITION, "db.transaction", "The transaction has ended.", {}, 0, 0});
  const bool aborted = c->is_open() && PQtransactionStatus(c->native()) == PQTRANS_INERROR;
  c->end_transaction("commit");
  if (!aborted) return;
  c->state_.reset();
  throw from_sqlstate("25P02", "a statement of the transaction failed", {}, {});
}

void transaction::rollback() {
  auto* c = std::exchange(conn_, nullptr);
  if (!c || !c->in_transaction_) return;
  c->end_transaction("rollback");
  c->state_.reset();
}

void wait_before_retry(int attempt) {
  thread_local std::minstd_rand rng{std::random_device{}()};
  const int most = 4 << std::min(attempt, 6);
  std::this_thread::sleep_for(std::chrono::milliseconds(1 + std::uniform_int_distribution(0, most)(rng)));
}

}  // namespace ry::db

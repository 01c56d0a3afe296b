#include "core/db/async_statement.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "core/db/result.hpp"
#include "core/exec/op_table.hpp"
#include "core/observe/log.hpp"

namespace ry::db {

namespace {

class canceller final : public task {
 public:
  canceller(pool& p, std::weak_ptr<task> what) : pool_(p), what_(std::move(what)) {}
  void run(connection&) noexcept override {
    const auto t = what_.lock();
    if (!t) return;
    if (pool_.remove(t.get())) {
      t->done();
    } else {
      pool_.cancel_running(t.get());
    }
  }

 private:
  pool& pool_;
  std::weak_ptr<task> what_;
};

// Logs failures that a caller's data cannot cause: the SQL or the server needs to be fixed.
void log_internal(const ry_host* host, const failure& f, const char* sql) {
  if (f.error.status != RY_INTERNAL) return;
  observe::log(observe::level::error, host ? std::string_view(host->name) : "db", "a statement failed",
               {{"error", f.what()}, {"sql", std::string(sql).substr(0, 160)}});
}

}  // namespace

void cancel_later(pool& p, std::weak_ptr<task> what) {
  p.push(std::make_shared<canceller>(p, std::move(what)), pool::kind::priority);
}

async_statement::async_statement(pool& p, const ry_host* host, ry_exec* exec, ry_db_fn fn, void* ctx)
    : pool_(p), keep_(host), exec_(exec), fn_(fn), ctx_(ctx) {
  unit_.tag = static_cast<const task*>(this);
  unit_.cancelled = &cancelled_;
}

void async_statement::set_calls(std::vector<call> calls) {
  calls_ = std::move(calls);
  unit_.calls = calls_;
  auto limit = pool_.config().connect.statement_timeout;
  for (const auto& c : calls_) limit = std::max(limit, c.timeout());
  if (calls_.size() == 1 && calls_.front().timeout().count() > 0) limit = calls_.front().timeout();
  deadline_ = steady::now() + limit;
  if (trace_) begin_span();
}

// The span records statement texts, which are constants of the module; texts that must not be prepared may contain
// data.
void async_statement::begin_span() {
  const auto read_only = [](const call& c) { return (c.flags() & RY_DB_READ_ONLY) != 0; };
  if (!std::all_of(calls_.begin(), calls_.end(), read_only)) unit_.trace = observe::kept_text(trace_);
  const std::string_view text = calls_.front().sql();
  std::string verb;
  for (const char c : text.substr(std::min(text.find_first_not_of(" \n\t"), text.size()))) {
    if (verb.size() == 16 || !std::isalpha(static_cast<unsigned char>(c))) break;
    verb.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  }
  span_ = observe::open_span(trace_, observe::span_kind::client, calls_.size() > 1 ? "BATCH" : verb);
  if (!span_) return;
  span_.set("db.system.name", "postgresql");
  span_.set("db.namespace", std::string(calls_.front().schema()));
  span_.set("db.operation.name", verb);
  if (calls_.size() > 1) span_.set("db.operation.batch.size", static_cast<std::int64_t>(calls_.size()));
  if (!(calls_.front().flags() & RY_DB_NO_PREPARE)) span_.set("db.query.text", std::string(text));
}

void async_statement::offer_cancel(ry_op_id* op) {
  auto* ops = keep_.get()->rt.ops;
  if (!op || !ops) return;
  *op = op_ = ops->start([&p = pool_, this, self = weak_from_this()] {
    const auto alive = self.lock();
    if (!alive) return;
    cancelled_ = true;
    cancel_later(p, self);
  });
}

void async_statement::drop() noexcept {
  if (op_) keep_.get()->rt.ops->finish(op_);
}

void async_statement::fail(failure f) {
  unit_.error = std::move(f);
  complete();
}

bool async_statement::begin() noexcept {
  if (cancelled_) {
    unit_.error.emplace(core::error{RY_CANCELLED, "db.cancelled", "The call was cancelled.", {}, 0, 0});
  } else if (steady::now() > deadline_) {
    unit_.error.emplace(
        core::error{RY_DEADLINE_EXCEEDED, "db.queue", "The database was too busy to answer in time.", {}, 0, 1});
  }
  return !unit_.error;
}

void async_statement::run(connection& c) noexcept {
  if (begin()) {
    connection::unit* one = &unit_;
    c.run({&one, 1});
  }
  complete();
}

void async_statement::done() noexcept {
  if (cancelled_ && unit_.results.size() != calls_.size() && !unit_.error) begin();
  complete();
}

void async_statement::complete() noexcept {
  const auto* host = keep_.get();
  if (op_) host->rt.ops->finish(op_);
  if (unit_.error) {
    if (cancelled_ && unit_.error->is("57014"))
      unit_.error->error = {RY_CANCELLED, "db.cancelled", "The call was cancelled.", {}, 0, 0};
    if (unit_.error->missing_object()) keep_.get()->schema_misses.fetch_add(1, std::memory_order_relaxed);
    log_internal(host, *unit_.error, calls_.empty() ? "" : calls_.front().sql());
  }
  std::vector<std::unique_ptr<ry_db_result>> results;
  try {
    if (!unit_.error)
      for (auto& r : unit_.results) results.push_back(std::make_unique<ry_db_result>(host, std::move(r)));
  } catch (const failure& f) {
    results.clear();
    unit_.error = f;
  }
  unit_.results.clear();
  if (unit_.error) {
    span_.fail(unit_.error->error.reason);
    pool_.count_failure(*unit_.error);
  }
  span_.end();
  auto self = std::static_pointer_cast<async_statement>(shared_from_this());
  module::post(host, exec_, [self = std::move(self), results = std::move(results)]() mutable {
    auto* h = self->keep_.get();
    const observe::trace_scope scope(self->trace_);
    if (self->unit_.error) {
      const auto& e = self->unit_.error->error;
      const auto v = e.view();
      module::invoke(h, "db.run", self->fn_, self->ctx_, e.status, static_cast<ry_db_result* const*>(nullptr),
                     std::size_t{0}, &v);
      return;
    }
    std::vector<ry_db_result*> given;
    for (auto& r : results) given.push_back(r.release());
    module::invoke(h, "db.run", self->fn_, self->ctx_, RY_OK, static_cast<ry_db_result* const*>(given.data()),
                   given.size(), static_cast<const ry_error_view*>(nullptr));
  });
}

}  // namespace ry::db

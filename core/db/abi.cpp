#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include "core/db/async_statement.hpp"
#include "core/db/database_impl.hpp"
#include "core/db/result.hpp"
#include "core/db/transaction_session.hpp"
#include "core/observe/log.hpp"

ry_db_result::ry_db_result(const ry_host* host, ry::db::rows r) : keep(host), rows(std::move(r)) {
  const auto n_cols = rows.columns(), n_rows = rows.size();
  columns.reserve(n_cols);
  for (std::size_t c = 0; c < n_cols; ++c) columns.push_back(ry::core::view(rows.column(c)));
  cells.reserve(n_rows * n_cols);
  for (std::size_t r = 0; r < n_rows; ++r)
    for (std::size_t c = 0; c < n_cols; ++c) {
      if (rows.is_null(r, c)) {
        cells.push_back({nullptr, 0});
      } else if (rows.is_bytes(c)) {
        cells.push_back(ry::core::view(decoded.emplace_back(rows.bytes(r, c))));
      } else {
        cells.push_back(ry::core::view(rows.text(r, c)));
      }
    }
  view = {sizeof(ry_db_rows), static_cast<std::uint32_t>(n_cols), n_rows, rows.affected(), columns.data(),
          cells.data()};
}

struct ry_db_listen {
  struct state {
    std::atomic<bool> closed{false}, pending{false};
  };
  ry::module::hold keep;
  std::shared_ptr<state> s = std::make_shared<state>();
  ry::db::database* db = nullptr;
  std::uint64_t id = 0;
};

namespace ry::db {

namespace {

database::impl* database_of(const ry_host* host) noexcept {
  return host && host->rt.db ? &host->rt.db->internals() : nullptr;
}

// No exception may cross the ABI.
template <class F>
ry_status guarded(F&& f) noexcept {
  try {
    return f();
  } catch (const failure& e) {
    return e.error.status;
  } catch (const std::exception& e) {
    observe::log(observe::level::error, "db", "ry.db/1", {{"error", e.what()}});
    return RY_INTERNAL;
  }
}

std::vector<call> copy(const ry_host* host, const ry_db_call* calls, std::size_t n) {
  std::vector<call> out;
  out.reserve(n);
  const auto* at = reinterpret_cast<const std::byte*>(calls);
  const auto stride = std::max<std::size_t>(calls->struct_size, sizeof(ry_db_call));
  for (std::size_t i = 0; i < n; ++i, at += stride) {
    const auto& c = *reinterpret_cast<const ry_db_call*>(at);
    const auto limit = std::min<std::uint64_t>(c.timeout_ms, std::numeric_limits<std::int32_t>::max());
    out.emplace_back(host->name, core::sv(c.sql), std::span(c.params, c.n_params), c.flags,
                     std::chrono::milliseconds(limit));
  }
  return out;
}

ry_status run(const ry_host* host, ry_tx* tx, const ry_db_call* calls, size_t n, ry_exec* exec, ry_db_fn fn, void* ctx,
              ry_op_id* op) noexcept {
  if (!host || !exec || !fn || !calls || n == 0) return RY_INVALID_ARGUMENT;
  auto* db = database_of(host);
  if (!db) return RY_UNAVAILABLE;
  return guarded([&]() -> ry_status {
    auto t = std::make_shared<async_statement>(db->workers, host, exec, fn, ctx);
    try {
      t->set_calls(copy(host, calls, n));
    } catch (const failure& f) {
      // Report it through the completion: only the completion carries the reason.
      t->fail(f);
      return RY_OK;
    }
    if (tx) {
      t->offer_cancel(op);
      tx->session->push(std::move(t));
      return RY_OK;
    }
    if (db->workers.away()) {
      t->fail(unavailable(db->workers.last_error()));
      return RY_OK;
    }
    t->offer_cancel(op);
    if (db->workers.push(t, pool::kind::normal)) return RY_OK;
    t->drop();
    return db->workers.stopping() ? RY_UNAVAILABLE : RY_RESOURCE_EXHAUSTED;
  });
}

ry_status begin(const ry_host* host, uint32_t flags, ry_exec* exec, ry_tx_fn fn, void* ctx, ry_op_id* op) noexcept {
  if (!host || !exec || !fn || (flags & ~(RY_TX_SERIALIZABLE | RY_TX_READ_ONLY))) return RY_INVALID_ARGUMENT;
  auto* db = database_of(host);
  if (!db) return RY_UNAVAILABLE;
  return guarded([&]() -> ry_status {
    auto s = std::make_shared<tx_session>(db->workers, host, flags, exec, fn, ctx);
    if (db->workers.away()) {
      s->refuse(unavailable(db->workers.last_error()));
      return RY_OK;
    }
    s->offer_cancel(op);
    if (db->workers.push(s, pool::kind::transaction)) return RY_OK;
    s->drop();
    return db->workers.stopping() ? RY_UNAVAILABLE : RY_RESOURCE_EXHAUSTED;
  });
}

ry_status end(ry_tx* tx, ry_exec* exec, ry_done done, tx_session::ending how) noexcept {
  if (!tx || (done.fn && !exec)) return RY_INVALID_ARGUMENT;
  const std::unique_ptr<ry_tx> owned(tx);
  return guarded([&]() -> ry_status {
    owned->session->end(how, exec, done);
    return RY_OK;
  });
}

ry_status commit(ry_tx* tx, ry_exec* exec, ry_done done) noexcept {
  return end(tx, exec, done, tx_session::ending::commit);
}
ry_status rollback(ry_tx* tx, ry_exec* exec, ry_done done) noexcept {
  return end(tx, exec, done, tx_session::ending::rollback);
}

const ry_db_rows* result_rows(const ry_db_result* result) noexcept {
  return result ? &result->view : nullptr;
}
void result_release(ry_db_result* result) noexcept {
  delete result;
}

ry_status listen(const ry_host* host, ry_str channel, uint64_t poll_ms, ry_exec* exec, ry_call_fn fn, void* ctx,
                 ry_db_listen** out) noexcept {
  if (!host || !exec || !fn || !out) return RY_INVALID_ARGUMENT;
  if (!database_of(host)) return RY_UNAVAILABLE;
  return guarded([&]() -> ry_status {
    auto l = std::make_unique<ry_db_listen>();
    l->keep = module::hold(host);
    l->db = host->rt.db;
    const auto wake = [host, exec, fn, ctx, s = l->s] {
      if (s->closed || s->pending.exchange(true)) return;
      module::post(host, exec, [host, fn, ctx, s] {
        s->pending = false;
        if (!s->closed) module::invoke(const_cast<ry_host*>(host), "db.listen", fn, ctx);
      });
    };
    const auto poll = std::clamp<std::uint64_t>(poll_ms, 10, 3'600'000);
    l->id = l->db->listen(core::sv(channel), wake, std::chrono::milliseconds(poll));
    *out = l.release();
    return RY_OK;
  });
}

void unlisten(ry_db_listen* listen) noexcept {
  if (!listen) return;
  const std::unique_ptr<ry_db_listen> owned(listen);
  owned->s->closed = true;
  guarded([&] {
    owned->db->unlisten(owned->id);
    return RY_OK;
  });
}

void notify(const ry_host* host, ry_str channel) noexcept {
  if (!database_of(host)) return;
  guarded([&] {
    host->rt.db->notify(core::sv(channel));
    return RY_OK;
  });
}

}  // namespace

const ry_db_v1& db_v1() noexcept {
  static constexpr ry_db_v1 t = {sizeof(ry_db_v1), 0,      run,      begin, commit, rollback, result_rows,
                                 result_release,   listen, unlisten, notify};
  return t;
}

}  // namespace ry::db

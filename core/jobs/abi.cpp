#include "core/jobs/abi.hpp"

#include <charconv>
#include <memory>
#include <string>

#include "core/db/database.hpp"
#include "core/jobs/queue.hpp"

namespace ry::jobs {

namespace {

struct enqueue_call {
  module::hold owner;
  ry_enqueued_fn fn;
  void* ctx;
};

void enqueued(void* raw, ry_status st, ry_db_result* const* results, size_t n, const ry_error_view* err) noexcept {
  std::unique_ptr<enqueue_call> call(static_cast<enqueue_call*>(raw));
  std::int64_t id = 0;
  core::error duplicate{
      RY_ALREADY_EXISTS, "jobs.not_unique", "an unfinished job with this unique key exists", "", 0, 0};
  ry_error_view duplicate_view = duplicate.view();
  for (size_t i = 0; i < n; ++i) {
    const auto* rows = db::db_v1().result_rows(results[i]);
    if (i == 0 && rows->n_rows > 0) {
      const auto cell = core::sv(rows->cells[0]);
      std::from_chars(cell.data(), cell.data() + cell.size(), id);
    }
    db::db_v1().result_release(results[i]);
  }
  if (st == RY_OK && id == 0) {
    st = RY_ALREADY_EXISTS;
    err = &duplicate_view;
  }
  module::invoke(call->owner.get(), "job enqueued", call->fn, call->ctx, st, id, err);
}

ry_value text_or_null(std::string_view s) {
  ry_value v{};
  v.kind = s.empty() ? RY_V_NULL : RY_V_TEXT;
  v.u.s = core::view(s);
  return v;
}

ry_value integer(std::int64_t i) {
  ry_value v{};
  v.kind = RY_V_INT;
  v.u.i = i;
  return v;
}

ry_status enqueue(const ry_host* host, ry_tx* tx, const ry_job_request* r, ry_exec* exec, ry_enqueued_fn fn,
                  void* ctx) noexcept {
  if (!host->rt.jobs) return RY_UNAVAILABLE;
  if (!r || !exec || !fn || r->kind.len == 0) return RY_INVALID_ARGUMENT;
  const auto kind = host->rt.jobs->find(core::sv(r->kind));
  std::string_view queue = core::sv(r->queue);
  if (queue.empty() && kind) queue = kind->queue;
  const std::string_view args = r->args_json.len ? core::sv(r->args_json) : "{}";
  const auto max_attempts = r->max_attempts ? r->max_attempts : kind ? kind->max_attempts : 20;
  ry_value params[] = {text_or_null(core::sv(r->kind)),
                       text_or_null(args),
                       text_or_null(queue),
                       integer(r->priority),
                       r->run_at_unix_us ? integer(r->run_at_unix_us) : text_or_null({}),
                       text_or_null(core::sv(r->unique_key)),
                       integer(max_attempts)};
  static constexpr std::string_view sql =
      "select id from core.job_enqueue($1::text, $2::jsonb, coalesce($3::text, 'default'), $4::int, "
      "to_timestamp($5::bigint / 1000000.0), $6::text, $7::int)";
  ry_db_call call{sizeof(ry_db_call), 0, core::view(sql), params, std::size(params), 0};
  auto state = std::make_unique<enqueue_call>(enqueue_call{module::hold(host), fn, ctx});
  const auto st = db::db_v1().run(host, tx, &call, 1, exec, enqueued, state.get(), nullptr);
  if (st == RY_OK) state.release();
  return st;
}

ry_status adopt(const ry_host* host, ry_str kind, int64_t id, int64_t fence, ry_str args_json) noexcept {
  if (!host->rt.jobs) return RY_UNAVAILABLE;
  return host->rt.jobs->adopt(core::sv(kind), id, fence, core::sv(args_json), host);
}

void wake(const ry_host* host, ry_str) noexcept {
  if (!host->rt.jobs) return;
  host->rt.jobs->wake();
  host->rt.jobs->notify_nodes();
}

ry_status cancel(const ry_host* host, int64_t id, ry_exec* exec, ry_done done) noexcept {
  if (!host->rt.jobs) return RY_UNAVAILABLE;
  if (!exec) return RY_INVALID_ARGUMENT;
  host->rt.jobs->cancel(
      id, [h = module::hold(host), exec, done](ry_status st) { module::complete(h.get(), exec, done, st); });
  return RY_OK;
}

ry_status on_cancel(ry_job* job, ry_cancel_fn fn, void* ctx) noexcept {
  return job->q.on_cancel(job, fn, ctx);
}

void finish(ry_job* job, int32_t outcome, uint64_t delay_ms, const ry_error_view* error) noexcept {
  job->q.finish(job, outcome, delay_ms, error);
}

}  // namespace

const ry_jobs_v1& jobs_v1() noexcept {
  static constexpr ry_jobs_v1 t{sizeof(ry_jobs_v1), 0, enqueue, adopt, wake, cancel, on_cancel, finish};
  return t;
}

}  // namespace ry::jobs

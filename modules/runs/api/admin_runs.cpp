#include "api/admin_runs.hpp"

#include <ry/cpp/page.hpp>

#include "api/run_filter.hpp"
#include "error_response.hpp"

namespace runs {
namespace {

constexpr std::int64_t default_page = 50, max_page = 100;

// The JSON members of a run in the list; `r` is the run, `p` its core.job_place().
constexpr std::string_view summary =
    "jsonb_build_object('agent_run_id', r.id, 'thread_id', r.thread_id, 'account_id', r.account_id, 'agent_id', r.agent_id,"
    " 'model', r.model, 'status', r.status, 'reason', r.reason, 'error', r.error, 'error_code', r.error_code,"
    " 'metadata', coalesce(r.metadata, '{}'), 'waiting', r.waiting, 'steps', r.step, 'started_at', core.iso(r.started_at), 'completed_at', core.iso(r.completed_at),"
    " 'node', p.node, 'crashes', coalesce(p.crashes, 0))";

// Planned at each execution, because the best index depends on the given filters.
const std::string list_sql =
    "select r.id::text as id, " + std::string(summary) +
    "::text as doc from (select * from runs.runs x"
    "  where x.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')"
    "    and ($3::text is null or x.status = $3::text) and ($4::uuid is null or x.account_id = $4::uuid)"
    "    and ($5::uuid is null or x.thread_id = $5::uuid) and ($6::uuid is null or x.agent_id = $6::uuid)"
    "    and ($7::text is null or x.model = $7::text) and ($8::text is null or x.reason = $8::text)"
    "    and ($9::text is null or x.error_code = $9::text)"
    "    and ($10::timestamptz is null or x.id >= core.uuid_floor($10::timestamptz))"
    "    and ($11::timestamptz is null or x.id < core.uuid_floor($11::timestamptz))"
    "    and ($12::jsonb is null or x.metadata @> $12::jsonb)"
    "  order by x.id desc limit $2::bigint) r"
    "  left join lateral core.job_place(r.job_id) p on r.status = 'running' and not r.waiting order by r.id desc";

const std::string get_sql =
    "select (runs.run_json(r) || " + std::string(summary) +
    " || jsonb_build_object('stop_requested_at', core.iso(r.stop_requested_at), 'timeout_seconds', r.timeout_seconds,"
    "   'parameters', r.parameters::jsonb, 'causes', coalesce(c.causes, '[]')))::text as doc"
    " from runs.runs r left join runs.run_causes c on c.run_id = r.id"
    " left join lateral core.job_place(r.job_id) p on r.status = 'running' and not r.waiting where r.id = $1::uuid";

}  // namespace

ry::task<ry::response> admin_runs::list(ry::request request) {
  const run_filter filter = read_run_filter(request.query_list());
  const std::int64_t limit = ry::query_integer(request, "limit", 1, max_page).value_or(default_page);
  const std::string list = filter.text();
  const std::optional<ry::uuid> before = ry::query_uuid_cursor(request, list);
  ry::result<ry::rows> found =
      co_await db_.query_with({RY_DB_READ_ONLY | RY_DB_NO_PREPARE, 0}, list_sql, before, limit + 1,
                              filter.effective_status(), filter.account, filter.thread, filter.agent, filter.model,
                              filter.reason, filter.error_code, filter.from, filter.to, filter.metadata);
  const ry::page_of_rows page = ry::read_page(found.value(), limit);
  co_return ry::response::json(200, ry::page_json("runs", list, page));
}

ry::task<ry::response> admin_runs::get(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  ry::result<ry::rows> found = co_await db_.query_with({RY_DB_READ_ONLY, 0}, get_sql, id);
  if (found.value().empty()) throw refusal(404, "Run not found");
  co_return ry::response::json(200, std::string(found->front().text("doc")));
}

}  // namespace runs

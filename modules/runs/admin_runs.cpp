#include "live_list.hpp"

#include <ry/cpp/page.hpp>

namespace runs {
namespace {

constexpr const char* list = "live_runs";
constexpr std::int64_t default_page = 50, largest_page = 100;

}  // namespace

ry::task<ry::response> live_list::serve(ry::request request) {
  const std::int64_t limit = ry::query_integer(request, "limit", 1, largest_page).value_or(default_page);
  const std::optional<ry::uuid> before = ry::query_uuid_cursor(request, list);
  ry::result<ry::rows> found = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select r.id::text as id, jsonb_build_object('agent_run_id', r.id, 'thread_id', r.thread_id,"
      "  'account_id', r.account_id, 'model', r.model, 'waiting', r.waiting, 'steps', r.step,"
      "  'started_at', core.iso(r.started_at), 'node', p.node, 'crashes', coalesce(p.crashes, 0))::text as doc"
      "  from (select * from runs.runs x where x.status = 'running'"
      "         and x.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')"
      "         order by x.id desc limit $2::bigint) r"
      "  left join lateral core.job_place(r.job_id) p on not r.waiting order by r.id desc",
      before, limit + 1);
  const ry::page_of_rows page = ry::read_page(found.value(), limit);
  co_return ry::response::json(200, ry::page_json("runs", list, page));
}

}  // namespace runs

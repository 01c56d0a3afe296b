#include "core/app/admin/job_routes.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/case_conv.hpp>
#include <charconv>
#include <limits>
#include <locale>

#include "core/app/admin/admin_database.hpp"
#include "core/db/value.hpp"
#include "core/http/uri.hpp"

namespace ry::app {

namespace {

using http::host_answer;
using http::serving::query_value;

constexpr auto json_type = "application/json";
constexpr std::int64_t default_page = 50, largest_page = 100;
// Indexed by the state's number in core.job.
constexpr std::array<std::string_view, 4> states = {"ready", "running", "dead", "scheduled"};
constexpr std::ptrdiff_t dead = 2;
constexpr auto dead_letters = "(select d.*, 2 as state, null::uuid as node, d.died_at as run_at from core.dead_job d)";

// nullopt: not an integer from `min` to `max`.
std::optional<std::int64_t> number(std::string_view text, std::int64_t min, std::int64_t max) {
  std::int64_t out = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (ec != std::errc() || end != text.data() + text.size() || out < min || out > max) return std::nullopt;
  return out;
}

}  // namespace

job_routes::job_routes(module_host& w, host_services& r) : host_(w), services_(r) {
  using http::runs_on;
  r.server.add_host_route(
      {"GET", "/admin/queues", [this](auto&) { return queues(); }, runs_on::blocking, RY_ROUTE_ADMIN});
  r.server.add_host_route(
      {"GET", "/admin/jobs", [this](auto& view) { return list(view); }, runs_on::blocking, RY_ROUTE_ADMIN});
  for (const std::string what : {"retry", "discard"})
    r.server.add_host_route({"POST", "/admin/jobs/{id}/" + what, [this, what](auto& view) { return act(what, view); },
                             runs_on::blocking, RY_ROUTE_ADMIN});
}

host_answer job_routes::queues() const {
  return run_on_database(host_.rt.db, [node = services_.jobs.node_id()](db::connection& c) -> host_answer {
    const auto found = c.exec(
        "select json_build_object("
        "  'queues', (select coalesce(json_agg(d), '[]') from core.job_depths() d),"
        "  'nodes', (select coalesce(json_agg(json_build_object('id', n.id, 'this', n.id = $1::uuid,"
        "      'started_at', core.iso(n.started_at),"
        "      'running', (select count(*) from core.job j where j.state = 1 and j.node = n.id))"
        "      order by n.started_at), '[]') from core.node n))::text",
        {db::value::text(node)});
    return {200, json_type, std::string(found.text(0, 0))};
  });
}

host_answer job_routes::list(const ry_request_view& view) const {
  const auto query = core::sv(view.query);
  const auto requested =
      boost::algorithm::to_lower_copy(query_value(query, "state").value_or("dead"), std::locale::classic());
  const auto state = std::find(states.begin(), states.end(), requested);
  if (state == states.end()) return error_answer(422, "state must be one of ready, running, dead, scheduled");
  std::optional<std::int64_t> limit = default_page, before = std::numeric_limits<std::int64_t>::max();
  if (const auto text = query_value(query, "limit")) limit = number(*text, 1, largest_page);
  if (!limit) return error_answer(422, "limit must be a whole number from 1 to 100");
  if (const auto text = query_value(query, "cursor"))
    before = number(*text, 1, std::numeric_limits<std::int64_t>::max());
  if (!before) return error_answer(400, "cursor is not valid for this list");
  return run_on_database(
      host_.rt.db,
      [state = state - states.begin(), limit = *limit, before = *before](db::connection& c) -> host_answer {
        const auto found = c.exec(
            "select json_build_object("
            "  'jobs', coalesce(json_agg(p.doc order by p.id desc) filter (where p.n <= $3::bigint), '[]'),"
            "  'next_cursor', case when count(*) > $3::bigint"
            "     then (min(p.id) filter (where p.n <= $3::bigint))::text end)::text "
            "from (select j.id, row_number() over (order by j.id desc) as n, json_build_object("
            "    'id', j.id, 'kind', j.kind, 'queue', j.queue, 'attempts', j.attempt,"
            "    'max_attempts', j.max_attempts, 'crashes', j.crashes, 'node', j.node,"
            "    'enqueued_at', core.iso(j.enqueued_at), 'run_at', core.iso(j.run_at),"
            "    'last_error', j.last_error) as doc"
            "  from " +
                std::string(state == dead ? dead_letters : "core.job") +
                " j where j.state = $1::bigint and j.id < $2::bigint"
                "  order by j.id desc limit $3::bigint + 1) p",
            {db::value::int64(state), db::value::int64(before), db::value::int64(limit)});
        return {200, json_type, std::string(found.text(0, 0))};
      });
}

host_answer job_routes::act(const std::string& what, const ry_request_view& view) const {
  const auto id = number(view.n_params > 0 ? core::sv(view.params[0].value) : std::string_view(), 1,
                         std::numeric_limits<std::int64_t>::max());
  if (!id) return error_answer(404, "No dead-lettered job has this id");
  const std::string actor = view.principal ? core::str(view.principal->subject) : std::string();
  auto out = run_on_database(host_.rt.db, [what, actor, id = *id](db::connection& c) -> host_answer {
    const auto done = c.exec("select core.job_act($1, $2, $3)",
                             {db::value::text(actor), db::value::text(what), db::value::int64(id)});
    const auto how = done.text(0, 0);
    if (how == "unknown") return error_answer(404, "No dead-lettered job has this id");
    if (how == "twin") return error_answer(409, "An identical job is already queued or running");
    return {200, json_type, R"({"status":"done"})"};
  });
  if (out.status == 200) {
    services_.jobs.wake();
    services_.jobs.notify_nodes();
  }
  return out;
}

}  // namespace ry::app

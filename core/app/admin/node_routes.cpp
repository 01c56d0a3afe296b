#include "core/app/admin/node_routes.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "core/app/admin/admin_database.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace {

enum class drain_action { drain, undrain };

http::host_answer list(db::connection& c, const std::string& own) {
  const auto r = c.exec(
      "select coalesce(json_agg(json_build_object('id', id, 'name', name, 'this', id = $1::uuid, "
      "  'state', case when lease_until < now() then 'silent' when draining then 'draining' "
      "           else 'active' end, "
      "  'weight', weight, 'running', running, "
      "  'started_at', to_char(started_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), "
      "  'lease_until', to_char(lease_until at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')) "
      "  order by started_at, id), '[]')::text from core.node",
      {db::value::text(own)});
  return {200, "application/json", std::string(r.text(0, 0))};
}

http::host_answer change(db::connection& c, const std::string& id, drain_action what) {
  const auto r = c.exec("update core.node set draining = $2 where id::text = lower($1) returning running",
                        {db::value::text(id), db::value::boolean(what == drain_action::drain)});
  if (r.empty()) return error_answer(404, "Node not found");
  const boost::json::object out{
      {"id", id}, {"state", what == drain_action::drain ? "draining" : "active"}, {"running", r.int64(0, 0)}};
  return {200, "application/json", boost::json::serialize(out)};
}

}  // namespace

void add_node_routes(host_services& r, module_host& w) {
  const auto own = r.jobs.node_id();
  r.server.add_host_route(
      {"GET", "/admin/nodes",
       [&w, own](auto&) { return run_on_database(w.rt.db, [own](db::connection& c) { return list(c, own); }); },
       http::runs_on::blocking, RY_ROUTE_ADMIN});
  for (const auto what : {drain_action::drain, drain_action::undrain})
    r.server.add_host_route(

        {"POST", std::string("/admin/nodes/{id}/") + (what == drain_action::drain ? "drain" : "undrain"),
         [&w, what](const ry_request_view& view) {
           const auto id = view.n_params > 0 ? core::str(view.params[0].value) : std::string();
           observe::log(observe::level::info, "host",
                        what == drain_action::drain ? "drain of a node requested" : "undrain of a node requested",
                        {{"node", id}, {"by", view.principal ? core::str(view.principal->subject) : ""}});
           return run_on_database(w.rt.db, [id, what](db::connection& c) { return change(c, id, what); });
         },
         http::runs_on::blocking, RY_ROUTE_ADMIN});
}

}  // namespace ry::app

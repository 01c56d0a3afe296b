#include "webhook_route.hpp"

#include <boost/json/parse.hpp>

namespace notifications {

namespace json = boost::json;

namespace {

std::string text_of(const json::object& o, const char* name) {
  const auto* v = o.if_contains(name);
  return v == nullptr || !v->is_string() ? std::string() : std::string(v->get_string());
}

}  // namespace

void webhook_route::add_to(ry::registrar& reg) {
  for (const std::string at : {"/notifications", "/api/notifications"}) {
    reg.route("POST", at + "/webhooks/{orchestrator}", RY_ROUTE_PUBLIC, this, &webhook_route::receive);
  }
}

std::vector<ry::notify::report> webhook_route::read(std::string_view body) const {
  std::vector<ry::notify::report> out;
  const auto driver = office_.driver();
  if (driver && (driver->table->capabilities & RY_NOTIFY_REPORTS) != 0) {
    const auto st = driver->table->read_report(
        driver->self, ry::raw(body),
        [](void* to, const ry_notify_report* r) noexcept {
          (void)ry::guard([&] { static_cast<std::vector<ry::notify::report>*>(to)->emplace_back(*r); });
        },
        &out);
    if (st == RY_OK) return out;
    out.clear();
  }
  const auto doc = json::parse(json::string_view(body.data(), body.size()));
  if (!doc.is_object()) return out;
  ry::notify::report r;
  r.type = text_of(doc.get_object(), "type");
  r.key = text_of(doc.get_object(), "transactionId");
  r.account_id = text_of(doc.get_object(), "subscriberId");
  if (r.type == "notification.sent") r.outcome = RY_NOTIFY_DELIVERED;
  if (r.type == "notification.failed") r.outcome = RY_NOTIFY_REFUSED;
  out.push_back(std::move(r));
  return out;
}

ry::task<ry::response> webhook_route::receive(ry::request r) {
  const auto name = r.param("orchestrator");
  if (name != "orchestrator" && name != office_.config.orchestrator) {
    throw ry::not_found("notifications.not_found", "There is no such orchestrator");
  }
  json::error_code bad;
  const auto body = r.body();
  (void)json::parse(json::string_view(body.data(), body.size()), bad);
  if (bad) throw ry::bad_request("notifications.body", "The body must be JSON");
  const auto told = read(body);
  for (const auto& t : told) {
    const auto level = t.outcome == RY_NOTIFY_REFUSED || t.outcome == RY_NOTIFY_GONE ? RY_LOG_WARN : RY_LOG_INFO;
    office_.ctx.log(level, "the orchestrator tells of a notification",
                    {{"type", t.type}, {"transaction", t.key}, {"account", t.account_id}});
  }
  co_return ry::response::json("{\"status\":\"ok\"}");
}

}  // namespace notifications

#include "api/webhook_route.hpp"

#include <boost/json/parse.hpp>

#include "json/members.hpp"
#include "webhook_signature.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::size_t max_body_bytes = 1024 * 1024;
constexpr std::size_t max_name_bytes = 256;
constexpr std::size_t max_text_bytes = 2'000;

// Clears fields that cannot come from this server or cannot be stored.
void clear_invalid_fields(ry::notify::report& r) {
  for (auto* name : {&r.type, &r.key, &r.account_id, &r.provider, &r.provider_id}) {
    if (name->size() > max_name_bytes || name->find('\0') != name->npos) name->clear();
  }
  for (auto* text : {&r.token, &r.detail}) {
    if (text->size() > max_text_bytes || text->find('\0') != text->npos) text->clear();
  }
}

}  // namespace

void webhook_route::add_to(ry::registrar& reg) {
  for (const std::string at : {"/notifications", "/api/notifications"}) {
    reg.route("POST", at + "/webhooks/{orchestrator}", RY_ROUTE_PUBLIC, this, &webhook_route::receive,
              {.max_body = max_body_bytes});
  }
}

std::vector<ry::notify::report> webhook_route::read(std::string_view body) const {
  std::vector<ry::notify::report> out;
  const auto driver = context_.driver();
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
  r.type = module_json::text_of(doc.get_object(), "type");
  r.key = module_json::text_of(doc.get_object(), "transactionId");
  r.account_id = module_json::text_of(doc.get_object(), "subscriberId");
  if (r.type == "notification.sent") r.outcome = RY_NOTIFY_DELIVERED;
  if (r.type == "notification.failed") r.outcome = RY_NOTIFY_REFUSED;
  out.push_back(std::move(r));
  return out;
}

// `reports`: the number of reports since the last logged one, including this one.
void webhook_route::log(const ry::notify::report& r, std::uint64_t reports) const {
  const auto level = r.outcome == RY_NOTIFY_REFUSED || r.outcome == RY_NOTIFY_GONE ? RY_LOG_WARN : RY_LOG_INFO;
  context_.ctx.log(
      level, "the orchestrator reported on a notification",
      {{"type", r.type}, {"transaction", r.key}, {"account", r.account_id}, {"reports", std::to_string(reports)}});
}

ry::task<ry::response> webhook_route::receive(ry::request r) {
  const auto name = r.param("orchestrator");
  if (name != "orchestrator" && name != context_.config.orchestrator) {
    throw ry::not_found("notifications.not_found", "Orchestrator not found");
  }
  const auto body = r.body();
  std::optional<std::string> id;
  if (!context_.config.webhook_keys.empty()) {
    const standard_webhooks::header_fn header = [&r](std::string_view h) { return r.header(h); };
    id =
        standard_webhooks::verified(context_.config.webhook_keys, header, body, context_.ctx.now_unix_us() / 1'000'000);
    if (!id) throw ry::http_error(401, RY_UNAUTHENTICATED, "notifications.signature", "Invalid signature");
  }
  json::error_code bad;
  (void)json::parse(json::string_view(body.data(), body.size()), bad);
  if (bad) throw ry::bad_request("notifications.body", "The body must be JSON");
  auto reports = read(body);
  for (auto& t : reports) clear_invalid_fields(t);
  if (!id) {
    // Without a signature, the report cannot be trusted, so it is only logged.
    for (const auto& t : reports) {
      if (const auto n = unsigned_log_limit_.due(); n != 0) log(t, n);
    }
    co_return ry::response::json("{\"status\":\"ok\"}");
  }
  const bool is_new = co_await context_.repo.apply_reports(*id, reports);
  if (!is_new) co_return ry::response::json("{\"status\":\"ok\"}");
  context_.ctx.jobs().wake("notifications");
  for (const auto& t : reports) {
    const bool is_final =
        t.outcome == RY_NOTIFY_DELIVERED || t.outcome == RY_NOTIFY_REFUSED || t.outcome == RY_NOTIFY_GONE;
    if (is_final) count_deliveries(context_.ctx, t.channels, state_name(t.outcome));
    log(t, 1);
  }
  co_return ry::response::json("{\"status\":\"ok\"}");
}

}  // namespace notifications

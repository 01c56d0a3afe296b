#include "api/admin_routes.hpp"

#include <ry/cpp/input.hpp>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/json/serialize.hpp>
#include <locale>

#include "api/request_bodies.hpp"
#include "json/known_members.hpp"

#include "api/routes.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::size_t max_payload_bytes = 64 * 1024;
constexpr std::array<std::string_view, 7> states{"queued", "gathered", "sent",     "suppressed",
                                                 "failed", "dead",     "cancelled"};

bool is_utc_time(std::string_view text) {
  constexpr std::string_view pattern_of_time = "0000-00-00T00:00:00";
  if (text.size() < pattern_of_time.size() + 1 || text.back() != 'Z') return false;
  for (std::size_t i = 0; i < pattern_of_time.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (pattern_of_time[i] == '0' ? !digit : text[i] != pattern_of_time[i]) return false;
  }
  const auto number = [&](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  if (number(5) < 1 || number(5) > 12 || number(8) < 1 || number(8) > 31 || number(11) > 23 || number(14) > 59 ||
      number(17) > 59)
    return false;
  const auto rest = text.substr(pattern_of_time.size(), text.size() - pattern_of_time.size() - 1);
  return rest.empty() || (rest.size() > 1 && rest.front() == '.' &&
                          std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

ry::error notification_not_found() {
  return ry::not_found("notifications.not_found", "Notification not found");
}

}  // namespace

void admin_routes::add_to(ry::registrar& reg) {
  const std::string at = "/admin/notifications";
  reg.route("POST", at + "/trigger", RY_ROUTE_ADMIN, this, &admin_routes::trigger);
  reg.route("GET", at, RY_ROUTE_ADMIN, this, &admin_routes::list);
  reg.route("GET", at + "/{id}", RY_ROUTE_ADMIN, this, &admin_routes::show);
  reg.route("POST", at + "/{id}/requeue", RY_ROUTE_ADMIN, this, &admin_routes::requeue);
  reg.route("POST", at + "/{id}/cancel", RY_ROUTE_ADMIN, this, &admin_routes::cancel);
}

ry::task<ry::response> admin_routes::trigger(ry::request r) {
  require_enabled(context_);
  const auto body = read_object(r.body());
  module_json::require_known_members(body, {"workflow_id", "payload_template", "subscriber_id", "subscriber_email",
                                            "broadcast", "dry_run", "test", "scheduled_at"});
  const auto workflow = text_in(body, "workflow_id", 64);
  if (!is_workflow_id(workflow)) throw invalid("workflow_id", "is not a valid workflow id");
  const auto* payload_template = body.if_contains("payload_template");
  if (payload_template != nullptr && !payload_template->is_null() && !payload_template->is_object()) {
    throw invalid("payload_template", "must be an object");
  }
  json::object pattern;
  if (payload_template != nullptr && payload_template->is_object()) pattern = payload_template->get_object();
  if (json::serialize(pattern).size() > max_payload_bytes) throw invalid("payload_template", "is too long");
  if (!can_be_stored(pattern)) {
    throw invalid("payload_template", "must not contain the character U+0000 or numbers out of range");
  }
  const auto id = opt_text_in(body, "subscriber_id", 64);
  const auto email = opt_text_in(body, "subscriber_email", 320);
  const bool broadcast = boolean_in(body, "broadcast").value_or(false);
  if ((id ? 1 : 0) + (email ? 1 : 0) + (broadcast ? 1 : 0) != 1) {
    throw ry::bad_request("notifications.recipient",
                          "Exactly one of subscriber_id, subscriber_email and broadcast is required");
  }
  if (broadcast) co_return co_await trigger_broadcast(std::move(r), body, workflow, std::move(pattern));
  for (const char* member : {"dry_run", "test", "scheduled_at"}) {
    if (body.contains(member)) throw invalid(member, "is for broadcasts only");
  }
  std::optional<ry::uuid> account;
  if (id) {
    account = ry::require_uuid(*id);
  } else {
    account = co_await context_.repo.find_by_email(*email);
  }
  std::optional<person> recipient;
  if (account) recipient = co_await context_.repo.find_person(*account);
  if (!recipient) throw ry::not_found("notifications.subscriber", "Subscriber not found");
  auto event = notification_event_from_template(workflow, pattern, *recipient);
  require_title(context_.templates.write(workflow, event.payload, *recipient, context_.deployment));
  co_return co_await notify_one(std::string(r.subject()), *account, std::move(event), *recipient);
}

ry::task<ry::response> admin_routes::notify_one(std::string actor, ry::uuid account, notification_event event,
                                                person recipient) {
  const auto event_id = context_.ctx.new_uuid();
  const auto workflow = event.workflow;
  const json::object detail{{"workflow_id", workflow},
                            {"event", event_id.to_string()},
                            {"broadcast", false},
                            {"account", account.to_string()}};
  audit_action audit{std::move(actor), "notification.trigger", json::serialize(detail)};
  auto key = workflow + ":" + event_id.to_string() + ":" + account.to_string();
  const auto out = co_await context_.notify(std::move(key), account, std::move(event), recipient, std::move(audit));
  const bool success = out.outcome == "queued" || out.outcome == "gathered" || out.outcome == "sent";
  json::object result{{"success", success}, {"notification_id", out.id.to_string()}, {"status", out.outcome}};
  if (!success) result["reason"] = out.reason;
  co_return ry::response::json(json::serialize(result));
}

// dry_run: counts the audience and sends nothing; test: sends to the caller only; scheduled_at: sends later.
ry::task<ry::response> admin_routes::trigger_broadcast(ry::request r, json::object body, std::string workflow,
                                                       json::object pattern) {
  const bool dry_run = boolean_in(body, "dry_run").value_or(false);
  const bool test = boolean_in(body, "test").value_or(false);
  if (dry_run && test) throw invalid("test", "cannot be combined with dry_run");
  auto at = opt_text_in(body, "scheduled_at", 30);
  if (at && !is_utc_time(*at)) throw invalid("scheduled_at", "must be a time like 2026-11-26T09:00:00Z");
  std::optional<ry::uuid> account;
  std::optional<person> sample;
  if (dry_run || test) {
    account = co_await context_.caller(r);
    sample = co_await context_.repo.find_person(*account);
  }
  person example_person;
  example_person.email = "ann@example.org";
  example_person.name = "Ann Example";
  broadcasts_.require_title_for(workflow, pattern, sample.value_or(example_person));
  if (dry_run)
    co_return co_await broadcasts_.dry_run(std::move(workflow), std::move(pattern), sample.value_or(example_person));
  if (!test)
    co_return co_await broadcasts_.create(std::string(r.subject()), std::move(workflow), std::move(pattern),
                                          std::move(at));
  if (!sample) throw ry::not_found("notifications.subscriber", "Subscriber not found");
  auto event = notification_event_from_template(std::move(workflow), pattern, *sample);
  co_return co_await notify_one(std::string(r.subject()), *account, std::move(event), *sample);
}

ry::task<ry::response> admin_routes::list(ry::request r) {
  require_enabled(context_);
  const auto state = boost::algorithm::to_lower_copy(r.query("status").value_or(""), std::locale::classic());
  if (!state.empty() && std::find(states.begin(), states.end(), state) == states.end()) {
    throw invalid("status", "must be one of queued, gathered, sent, suppressed, failed, dead, cancelled");
  }
  std::optional<ry::uuid> account;
  if (const auto text = r.query("account_id")) account = ry::require_uuid(*text);
  const auto limit = limit_of(r);
  const auto list = "notifications:all:" + state + (account ? account->to_string() : std::string());
  const auto before = ry::query_uuid_cursor(r, list);
  const auto rows = co_await context_.repo.list(state, account, before, limit);
  co_return ry::response::json(ry::page_json("notifications", list, rows));
}

ry::task<ry::response> admin_routes::show(ry::request r) {
  require_enabled(context_);
  const auto id = ry::require_uuid(r.param("id"));
  const auto doc = co_await context_.repo.details(id);
  if (!doc) throw notification_not_found();
  co_return ry::response::json(*doc);
}

ry::task<ry::response> admin_routes::requeue(ry::request r) {
  require_enabled(context_);
  const auto id = ry::require_uuid(r.param("id"));
  const bool done = co_await context_.repo.requeue(std::string(r.subject()), id);
  if (!done) {
    throw ry::not_found("notifications.not_found", "No failed or dead notification has this id");
  }
  context_.ctx.jobs().wake("notifications");
  co_return ry::response::json("{\"success\":true,\"status\":\"queued\"}");
}

ry::task<ry::response> admin_routes::cancel(ry::request r) {
  require_enabled(context_);
  const auto id = ry::require_uuid(r.param("id"));
  bool done = co_await context_.repo.cancel(std::string(r.subject()), id);
  if (!done) done = co_await withdraw(std::string(r.subject()), id);
  if (!done) throw ry::conflict("notifications.not_waiting", "The notification can no longer be cancelled");
  // Another entry of the digest may be ready to send in its place.
  context_.ctx.jobs().wake("notifications");
  co_return ry::response::json("{\"success\":true,\"status\":\"cancelled\"}");
}

// Withdraws the notification if the orchestrator has not delivered it. Returns false if it is too late.
ry::task<bool> admin_routes::withdraw(std::string actor, ry::uuid id) {
  const auto driver = context_.driver();
  if (!driver || (driver->table->capabilities & RY_NOTIFY_WITHDRAWS) == 0) co_return false;
  const auto key = co_await context_.repo.withdrawable(id);
  if (!key) co_return false;
  auto reply = co_await ry::call<bool, std::uint32_t>(
      [&](ry_exec* exec, ry_notify_withdrawn_fn fn, void* p) {
        return driver->table->withdraw(driver->self, ry::str(*key), exec, fn, p);
      },
      [](std::uint32_t withdrawn) { return withdrawn != 0; });
  if (!std::move(reply).value()) co_return false;
  co_await context_.repo.record_withdrawal(std::move(actor), id);
  co_return true;
}

}  // namespace notifications

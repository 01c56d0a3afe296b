#include "api/broadcasts.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/routes.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::int64_t accounts_per_batch = 200;
constexpr std::uint64_t paused_ms = 15'000;

ry::error broadcast_not_found() {
  return ry::not_found("notifications.not_found", "Broadcast not found");
}

// The arguments of the job: {workflow_id, broadcast_id, payload}.
struct broadcast_args {
  std::string workflow, id;
  json::object pattern;
};

std::optional<broadcast_args> read_args(std::string_view args) {
  json::error_code bad;
  const auto doc = json::parse(json::string_view(args.data(), args.size()), bad);
  const auto* o = bad ? nullptr : doc.if_object();
  const auto* workflow = o ? o->if_contains("workflow_id") : nullptr;
  const auto* id = o ? o->if_contains("broadcast_id") : nullptr;
  const auto* pattern = o ? o->if_contains("payload") : nullptr;
  if (!workflow || !workflow->is_string() || !id || !id->is_string() || !pattern || !pattern->is_object())
    return std::nullopt;
  return broadcast_args{std::string(workflow->get_string()), std::string(id->get_string()), pattern->get_object()};
}

}  // namespace

void broadcasts::add_to(ry::registrar& reg) {
  const std::string at = "/admin/notifications/broadcasts";
  reg.route("GET", at, RY_ROUTE_ADMIN, this, &broadcasts::list);
  reg.route("GET", at + "/{id}", RY_ROUTE_ADMIN, this, &broadcasts::show);
  reg.route("POST", at + "/{id}/pause", RY_ROUTE_ADMIN, this, &broadcasts::pause);
  reg.route("POST", at + "/{id}/resume", RY_ROUTE_ADMIN, this, &broadcasts::resume);
  reg.route("POST", at + "/{id}/cancel", RY_ROUTE_ADMIN, this, &broadcasts::cancel);
  ry::job_options o;
  o.max_attempts = 1'000;
  o.concurrency = 1;
  o.timeout_ms = UINT64_MAX;  // runs until all accounts are done
  o.backoff_ms = 5'000;
  reg.job("notifications.broadcast", this, &broadcasts::write_notifications, o);
}

void broadcasts::require_title_for(const std::string& workflow, const json::object& pattern,
                                   const person& sample) const {
  const auto event = notification_event_from_template(workflow, pattern, sample);
  require_title(context_.templates.write(workflow, event.payload, sample, context_.deployment));
}

ry::task<ry::response> broadcasts::dry_run(std::string workflow, json::object pattern, person sample) const {
  const auto audience = co_await context_.repo.audience(workflow);
  const auto event = notification_event_from_template(workflow, pattern, sample);
  const auto texts = context_.templates.write(workflow, event.payload, sample, context_.deployment);
  json::object sample_json{{"title", texts.title},
                           {"body", texts.body},
                           {"action_url", texts.url},
                           {"mail_text", texts.mail},
                           {"mail_html", texts.html}};
  co_return ry::response::json("{\"success\":true,\"dry_run\":true,\"audience\":" + audience +
                               ",\"sample\":" + json::serialize(sample_json) + "}");
}

ry::task<ry::response> broadcasts::create(std::string actor, std::string workflow, json::object pattern,
                                          std::optional<std::string> at) const {
  const auto id = context_.ctx.new_uuid();
  const json::object detail{{"workflow_id", workflow}, {"event", id.to_string()}, {"broadcast", true}};
  audit_action audit{std::move(actor), "notification.trigger", json::serialize(detail)};
  co_await context_.repo.create_broadcast(std::move(audit), id, std::move(workflow), json::serialize(pattern), at);
  context_.ctx.jobs().wake("default");
  json::object result{{"success", true}, {"broadcast_id", id.to_string()}};
  if (at) result["scheduled_at"] = *at;
  co_return ry::response::json(json::serialize(result));
}

ry::task<ry::response> broadcasts::list(ry::request r) {
  require_enabled(context_);
  const auto limit = limit_of(r);
  const auto before = ry::query_uuid_cursor(r, "notifications:broadcasts");
  const auto rows = co_await context_.repo.broadcasts(before, limit);
  co_return ry::response::json(ry::page_json("broadcasts", "notifications:broadcasts", rows));
}

ry::task<ry::response> broadcasts::show(ry::request r) {
  require_enabled(context_);
  const auto id = ry::require_uuid(r.param("id"));
  const auto doc = co_await context_.repo.broadcast_details(id);
  if (!doc) throw broadcast_not_found();
  co_return ry::response::json(*doc);
}

ry::task<ry::response> broadcasts::change_state(ry::request r, const char* action) {
  require_enabled(context_);
  const auto id = ry::require_uuid(r.param("id"));
  const auto state = co_await context_.repo.change_broadcast_state(std::string(r.subject()), id, action);
  if (!state) throw broadcast_not_found();
  if (state->empty()) {
    throw ry::conflict("notifications.broadcast_state",
                       "The broadcast has ended, or its state does not allow this action");
  }
  context_.ctx.jobs().wake("default");
  context_.ctx.jobs().wake("notifications");
  co_return ry::response::json("{\"success\":true,\"status\":" + ry::json_string(*state) + "}");
}

ry::task<ry::job_outcome> broadcasts::write_notifications(ry::job job) {
  const auto args = read_args(job.args());
  const auto id = args ? ry::uuid::parse(args->id) : std::nullopt;
  if (!id) co_return ry::job_outcome::dead(ry::bad_request("notifications.job", "the job has no broadcast id"));
  auto after = co_await context_.repo.broadcast_progress(*id);
  std::int64_t written = 0;
  for (bool finished = false;;) {
    const auto state = co_await context_.repo.advance_broadcast(*id, after, written, finished);
    if (finished || state == "cancelled") co_return ry::job_outcome::done();
    if (state == "paused") co_return ry::job_outcome::snooze(paused_ms);
    written = 0;
    const auto accounts = co_await context_.repo.accounts_after(after, accounts_per_batch);
    finished = accounts.empty();
    for (const auto& account : accounts) {
      after = account;
      const auto recipient = co_await context_.repo.find_person(account);
      if (!recipient) continue;
      auto event = notification_event_from_template(args->workflow, args->pattern, *recipient);
      event.broadcast = args->id;
      // The key prevents a restarted job from writing a notification twice.
      auto key = args->workflow + ":" + args->id + ":" + account.to_string();
      const auto out = co_await context_.notify(std::move(key), account, std::move(event), *recipient);
      if (out.outcome != "duplicate") ++written;
    }
    job.cancel().check();
  }
}

}  // namespace notifications

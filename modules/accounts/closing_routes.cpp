#include "closing_routes.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/input.hpp>

#include "body.hpp"
#include "errors.hpp"
#include "event_payload.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

}  // namespace

void closing_routes::add_to(ry::registrar& reg) {
  reg.route("DELETE", "/account", 0, this, &closing_routes::close_own);
  reg.route("DELETE", "/admin/accounts/{id}", RY_ROUTE_ADMIN, this, &closing_routes::close_any);
  reg.route("POST", "/admin/events", RY_ROUTE_ADMIN, this, &closing_routes::publish_event);
}

ry::task<bool> closing_routes::close(std::string actor, account_ptr account, std::string detail_json) {
  const bool closed = co_await repo_.close(std::move(actor), account->id, std::move(detail_json));
  if (!closed) co_return false;
  cache_.invalidate(account->subject);
  co_await logins_.all_sessions().propagate_ended();
  ry::job_queue(ctx_).wake("events");
  co_return true;
}

ry::task<ry::response> closing_routes::close_own(ry::request r) {
  if (ry::view(r.principal()->auth_kind) == "api_key") {
    throw ry::forbidden("accounts.needs_token", "An API key may not delete the account of its owner");
  }
  const auto own = co_await cache_.account_of(r.principal());
  const auto row = co_await repo_.find(own->id);
  if (!row) co_return ry::response::empty();  // another request has closed it in the meantime
  (void)co_await close(std::string(r.subject()), row, "{}");
  co_return ry::response::empty();
}

ry::task<ry::response> closing_routes::close_any(ry::request r) {
  const auto id = ry::require_uuid(r.param("id"));
  const body b(r.body(), {"reason"});
  const auto reason = b.text("reason", 0, 500);
  const auto row = co_await repo_.find(id);
  if (!row) throw unknown_account();
  if (r.principal()->role < RY_ROLE_SUPER_ADMIN) {
    const auto highest = co_await repo_.highest_role(id);
    if (highest > RY_ROLE_USER)
      throw ry::forbidden("accounts.super_admin_only", "Only a super admin may delete an account that has a role");
  }
  json::object detail;
  if (reason) detail["reason"] = *reason;
  const bool closed = co_await close(std::string(r.subject()), row, json::serialize(detail));
  if (!closed) throw unknown_account();
  co_return ry::response::empty();
}

ry::task<ry::response> closing_routes::publish_event(ry::request r) {
  auto event = read_published_event(r.body());
  json::object out{{"kind", event.kind}, {"key", event.key}, {"account_id", event.account.to_string()}};
  const auto done = co_await repo_.publish(std::string(r.subject()), std::move(event));
  const auto result = json::parse(done).as_object();
  for (const auto& member : result) out[member.key()] = member.value();
  ry::job_queue(ctx_).wake("events");
  co_return ry::response::json(json::serialize(out));
}

}  // namespace accounts

#include "routes.hpp"

#include <ry/cpp/page.hpp>
#include <ry/cpp/utf8.hpp>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "body.hpp"
#include "errors.hpp"
#include "login/network.hpp"
#include "members.hpp"
#include "throttle.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

constexpr std::int64_t default_page = 50;
constexpr std::int64_t max_page = 200;

ry::uuid account_in_path(const ry::request& r) {
  return ry::require_uuid(r.param("id"));
}

const char* role_name(std::uint32_t role) {
  if (role >= RY_ROLE_SUPER_ADMIN) return "super_admin";
  return role == RY_ROLE_ADMIN ? "admin" : "user";
}

// Appends a member to a JSON object: `{...,"name":value}`.
std::string with_member(std::string object, std::string_view name, std::string_view value) {
  object.pop_back();
  object.append(",\"").append(name).append("\":").append(value).append("}");
  return object;
}

// A stolen key must not be able to create another key, which would remain valid after the stolen one is revoked.
void require_token(const ry::request& r) {
  if (ry::view(r.principal()->auth_kind) == "api_key") {
    throw ry::forbidden("accounts.needs_token", "An API key may not create or revoke API keys");
  }
}

}  // namespace

void routes::add_to(ry::registrar& reg) {
  reg.route("GET", "/account", 0, this, &routes::own_account);
  reg.route("GET", "/api-keys", 0, this, &routes::list_keys);
  reg.route("POST", "/api-keys", 0, this, &routes::create_key);
  reg.route("DELETE", "/api-keys/{id}", 0, this, &routes::revoke_key);
  reg.route("GET", "/admin/accounts/{id}", RY_ROUTE_ADMIN, this, &routes::show_account);
  reg.route("PUT", "/admin/accounts/{id}", RY_ROUTE_ADMIN, this, &routes::change_account);
  reg.route("POST", "/admin/accounts/{id}/grant", RY_ROUTE_ADMIN, this, &routes::grant);
  reg.route("POST", "/admin/accounts/{id}/revoke", RY_ROUTE_ADMIN, this, &routes::revoke);
  reg.route("GET", "/admin/accounts/{id}/ledger", RY_ROUTE_ADMIN, this, &routes::ledger);
  reg.route("GET", "/admin/audit", RY_ROUTE_ADMIN, this, &routes::audit);
}

ry::task<ry::response> routes::account_response(ry::uuid id, std::uint32_t min_role) {
  auto row = co_await repo_.describe(id);
  if (!row) throw unknown_account();
  auto doc = with_member(std::move(row->json), "role", ry::json_string(role_name(std::max(row->role, min_role))));
  co_return ry::response::json(with_member(std::move(doc), "limits", limits_json(cfg_.find(row->tier))));
}

ry::task<ry::response> routes::own_account(ry::request r) {
  auto network = network_block_of(caller_of(r));
  const auto me = co_await cache_.account_of(r.principal(), std::move(network));
  co_return co_await account_response(me->id, me->role);
}

ry::task<ry::response> routes::show_account(ry::request r) {
  co_return co_await account_response(account_in_path(r), RY_ROLE_USER);
}

ry::task<void> routes::on_changed(ry::uuid id) {
  const auto account = co_await repo_.find(id);
  if (account) {
    cache_.invalidate(account->subject);
    ry::auth(ctx_).forget(account->subject);
  }
  ctx_.db().notify(changed_channel);
}

ry::task<ry::response> routes::change_account(ry::request r) {
  const auto id = account_in_path(r);
  const body b(r.body(), {"tier", "role"});
  const auto tier = b.text("tier", 1, 64);
  const auto role = b.text("role", 1, 64);
  if (!tier && !role) throw body::invalid("tier", "or role is required");
  if (tier && !cfg_.has_tier(*tier)) {
    std::string known;
    for (const auto& [name, t] : cfg_.tiers) known += (known.empty() ? "" : ", ") + name;
    throw body::invalid("tier", "must be one of " + known);
  }
  std::optional<std::int64_t> role_number;
  if (role) {
    if (*role == "admin") {
      role_number = RY_ROLE_ADMIN;
    } else if (*role == "super_admin") {
      role_number = RY_ROLE_SUPER_ADMIN;
    } else if (*role == "user") {
      role_number = RY_ROLE_USER;
    } else {
      throw body::invalid("role", "must be one of user, admin, super_admin");
    }
    if (r.principal()->role < RY_ROLE_SUPER_ADMIN) {
      throw ry::forbidden("accounts.super_admin_only", "Only a super admin may change roles");
    }
  }
  if (!(co_await repo_.find(id))) throw unknown_account();
  co_await repo_.change(std::string(r.subject()), id, tier, role_number);
  co_await on_changed(id);
  co_return co_await account_response(id, RY_ROLE_USER);
}

ry::task<ry::response> routes::move_balance(ry::request r, std::string action, std::int64_t sign) {
  const auto id = account_in_path(r);
  const body b(r.body(), {"credits", "reason", "ref"});
  const auto micro = b.credits("credits");
  if (!micro) throw body::invalid("credits", "is required");
  const auto reason = b.text("reason", 0, 500);
  auto ref = b.text("ref", 1, 200);
  if (!ref && !r.header("Idempotency-Key").empty()) {
    ref = std::string(r.header("Idempotency-Key"));
    if (ref->size() > 200) throw body::invalid("Idempotency-Key", "must have at most 200 characters");
    if (!ry::is_utf8(*ref)) throw body::invalid("Idempotency-Key", "must be UTF-8");
  }
  balance_change m;
  m.actor = r.subject();
  m.action = action;
  m.delta_micro = sign * *micro;
  // Includes the account, because the same key for another account is another operation.
  m.ref = "admin:" + id.to_string() + ":" + (ref ? *ref : ctx_.new_uuid().to_string());
  json::object note{{"actor", m.actor}};
  if (reason) note["reason"] = *reason;
  m.note_json = json::serialize(note);
  if (!(co_await repo_.find(id))) throw unknown_account();
  auto doc = co_await repo_.move_balance(id, std::move(m));
  co_return ry::response::json(with_member(std::move(doc), "account_id", ry::json_string(id.to_string())));
}

ry::task<ry::response> routes::grant(ry::request r) {
  co_return co_await move_balance(std::move(r), "grant", 1);
}

ry::task<ry::response> routes::revoke(ry::request r) {
  co_return co_await move_balance(std::move(r), "revoke", -1);
}

ry::task<ry::response> routes::ledger(ry::request r) {
  const auto id = account_in_path(r);
  const auto limit = ry::query_integer(r, "limit", 1, max_page).value_or(default_page);
  const auto list = "ledger:" + id.to_string();
  const auto before = ry::query_number_cursor(r, list);
  if (!(co_await repo_.find(id))) throw unknown_account();
  const auto page = co_await repo_.ledger(id, before, limit);
  co_return ry::response::json(ry::page_json("entries", list, page));
}

ry::task<ry::response> routes::audit(ry::request r) {
  const auto limit = ry::query_integer(r, "limit", 1, max_page).value_or(default_page);
  audit_filter filter;
  if (const auto account = r.query("account_id")) filter.account = ry::require_uuid(*account);
  filter.actor = ry::query_text(r, "actor", 1, 200);
  filter.action = ry::query_text(r, "action", 1, 200);
  const auto list = "audit:" + (filter.account ? filter.account->to_string() : std::string()) + ":" +
                    filter.actor.value_or("") + ":" + filter.action.value_or("");
  const auto before = ry::query_number_cursor(r, list);
  const auto page = co_await repo_.audit(std::move(filter), before, limit);
  co_return ry::response::json(ry::page_json("entries", list, page));
}

ry::task<ry::response> routes::list_keys(ry::request r) {
  const auto me = co_await cache_.account_of(r.principal());
  co_return ry::response::json("{\"api_keys\":" + co_await repo_.list_keys(me->id) + "}");
}

ry::task<ry::response> routes::create_key(ry::request r) {
  require_token(r);
  const auto me = co_await cache_.account_of(r.principal());
  const body b(r.body(), {"name", "expires_in_days"});
  const auto key = make_api_key();
  new_key row;
  row.id = key.id;
  row.secret_hash = hash_secret(key.secret);
  row.name = b.name("name", 100).value_or("API key");
  row.expires_in_days = b.integer("expires_in_days", 1, 3650);
  // Revoking a key makes room for a new one, but its row and its audit entries remain, so the rate is limited as well.
  std::vector<bucket> limits{{"key/" + me->id_text, cfg_.new_api_keys_hour, 3600}};
  co_await throttle(ctx_, std::move(limits));
  const auto max_keys = cfg_.find(me->tier).api_keys;
  const auto session = ry::uuid::parse(clean_claim(*r.principal(), "sid", 200));
  std::string doc;
  ry::error failure(RY_OK);
  try {
    doc = co_await repo_.add_key(std::string(r.subject()), me->id, std::move(row), max_keys, session);
  } catch (const ry::error& e) {
    failure = e;
  }
  if (failure.is("db.RY401")) throw ry::unauthenticated("auth.required", "Not authenticated");
  if (failure.status() != RY_OK) throw failure;
  if (doc.empty()) {
    key_limit_reached_.add();
    const auto message = "Your plan allows at most " + std::to_string(max_keys) + " API keys";
    const json::object detail{
        {"message", message}, {"limit", max_keys}, {"tier_name", me->tier}, {"error_code", "API_KEY_LIMIT_EXCEEDED"}};
    throw ry::http_error(409, RY_FAILED_PRECONDITION, "accounts.too_many_keys", message, json::serialize(detail));
  }
  ry::job_queue(ctx_).wake("default");
  const auto text = std::string(api_key_prefix) + key.id + "_" + key.secret;
  co_return ry::response::json(201, with_member(doc, "key", ry::json_string(text))).header("Cache-Control", "no-store");
}

ry::task<ry::response> routes::revoke_key(ry::request r) {
  require_token(r);
  const auto me = co_await cache_.account_of(r.principal());
  const std::string id(r.param("id"));
  bool revoked = false;
  if (is_api_key_id(id)) {
    revoked = co_await repo_.revoke_key(std::string(r.subject()), me->id, id);
  }
  if (!revoked) throw ry::not_found("accounts.key_not_found", "API key not found");
  ry::auth(ctx_).revoke_session(r.subject(), session_of_key(id),
                                ctx_.now_unix_us() + query_token_lifetime_s * 1'000'000);
  co_await on_changed(me->id);
  co_return ry::response::empty();
}

}  // namespace accounts

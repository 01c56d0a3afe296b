#include "routes.hpp"

#include <algorithm>

#include "common/unicode.hpp"

#include "consent_browser.hpp"
#include "crypto.hpp"
#include "deadline.hpp"
#include "json/known_members.hpp"
#include "openapi.hpp"

namespace mcp_prebuilt {
namespace {

constexpr std::uint64_t remote_timeout_ms = 28'000;
constexpr std::size_t max_text = 8192;
constexpr std::size_t max_name = 200;

ry::error invalid(std::string message) {
  return ry::bad_request("mcp.profile", std::move(message));
}

// The display name in a body; nullopt: none. Throws a 422.
std::optional<std::string> display_name_in(const json::object& body) {
  const auto* given = body.if_contains("display_name");
  if (given == nullptr || given->is_null()) return std::nullopt;
  auto name = unicode::clean_name(mcp::sv(given->get_string()));
  if (name.empty() || name.size() > max_name) {
    throw ry::http_error(422, RY_INVALID_ARGUMENT, "mcp.profile",
                         "display_name must have 1 to " + std::to_string(max_name) + " bytes and must not be blank");
  }
  return name;
}

json::object body_of(const ry::request& r) {
  json::value v;
  (void)ry::guard([&] { v = mcp::parse_body(r.body()); });
  if (!v.is_object()) throw invalid("The body must be a JSON object");
  return std::move(v.get_object());
}

json::object profile_json(const listed_profile& p, const integrations& offered) {
  json::object o{{"profile_id", p.id}, {"integration", nullptr}, {"display_name", p.display_name}};
  if (!p.integration.empty()) o["integration"] = p.integration;
  if (!p.url.empty()) o["url"] = p.url;
  const auto at = offered.find(p.integration);
  if (!p.url.empty() || (at != offered.end() && at->second.oauth)) o["connected"] = p.connected;
  return o;
}

ry::response invalid_link() {
  return message_page(400, "Not connected", "This link has expired or was already used. Start the connection again.");
}

ry::uuid id_of(const ry::request& r) {
  const auto id = ry::uuid::parse(r.param("id"));
  if (!id) throw no_such_profile();
  return *id;
}

// A failure of an authorization server becomes a 502, because neither this server nor the caller is at fault. Its
// description goes to the log only.
ry::error as_http_error(const ry::context& ctx, const ry::error& e, std::string_view request_id) {
  if (!e.reason().starts_with("mcp.oauth") || e.status() == RY_FAILED_PRECONDITION) return e;
  ctx.warn("an authorization server failed",
           {{"request_id", request_id}, {"error", e.message()}, {"detail", e.detail_json()}});
  const std::uint32_t status = e.status() == RY_DEADLINE_EXCEEDED ? 504 : 502;
  return ry::http_error(status, RY_UNAVAILABLE, std::string(e.reason()), std::string(e.message()));
}

}  // namespace

void routes::add_to(ry::registrar& reg) {
  ry::route_options remote;
  remote.timeout_ms = 45'000;
  reg.route("GET", "/mcp/profiles", 0, this, &routes::list);
  reg.route("POST", "/mcp/profiles", 0, this, &routes::create);
  reg.route("DELETE", "/mcp/profiles/{id}", 0, this, &routes::remove);
  reg.route("POST", "/mcp/profiles/{id}/connect", 0, this, &routes::connect, remote);
  if (redirect_target_ == redirect_target::callback) {
    reg.route("GET", "/mcp/oauth/connect", RY_ROUTE_PUBLIC, this, &routes::confirmation);
    reg.route("POST", "/mcp/oauth/connect", RY_ROUTE_PUBLIC, this, &routes::confirm);
    reg.route("GET", "/mcp/oauth/callback", RY_ROUTE_PUBLIC, this, &routes::callback, remote);
    reg.describe(ry_openapi::callback);
  } else {
    reg.route("POST", "/mcp/oauth/callback", 0, this, &routes::callback_by_app, remote);
    reg.describe(ry_openapi::callback_by_app);
  }
  reg.route("GET", "/mcp/oauth/client", RY_ROUTE_PUBLIC, this, &routes::client_document);
  reg.describe(ry_openapi::api);
}

ry::task<ry::uuid> routes::enabled_account(ry::request r) const {
  if (mcp_->enabled(mcp_.self()) == 0) {
    throw ry::forbidden("mcp.disabled", "MCP integrations are not enabled");
  }
  ry::result<ry::uuid> found = co_await ry::call<ry::uuid, const ry_account_view*>(
      [&](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return accounts_->ensure(accounts_.self(), r.principal(), exec, fn, ctx);
      },
      [](const ry_account_view* v) { return ry::uuid(v->account_id); });
  co_return std::move(found).value();
}

ry::task<ry::response> routes::list(ry::request r) const {
  const auto account = co_await enabled_account(r);
  const auto all = co_await profiles_.list(account);
  json::array profiles;
  for (const auto& p : all) profiles.push_back(profile_json(p, offered_));
  json::array names;
  for (const auto& [name, each] : offered_) names.emplace_back(name);
  json::object out;
  out["profiles"] = std::move(profiles);
  out["integrations"] = std::move(names);
  co_return ry::response::json(json::serialize(out));
}

ry::task<ry::response> routes::create(ry::request r) const {
  const auto account = co_await enabled_account(r);
  const auto body = body_of(r);
  module_json::require_known_members(body, {"integration", "url", "type", "display_name", "credentials", "oauth"});
  for (const char* field : {"integration", "url", "type", "display_name"}) {
    const auto* v = body.if_contains(field);
    if (v == nullptr || v->is_null()) continue;
    if (!v->is_string()) throw invalid(std::string(field) + " must be a string");
    const auto text = mcp::sv(v->get_string());
    if (std::string_view(field) == "display_name") continue;
    if (text.size() > max_text) throw invalid(std::string(field) + " is too long");
    if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
      throw invalid(std::string(field) + " contains control characters");
    }
  }
  const auto name = display_name_in(body);
  const auto type = mcp::text_of(body, "type");
  if (!type.empty() && type != "http" && type != "sse") throw invalid("type must be http or sse");
  for (const char* field : {"credentials", "oauth"}) {
    const auto* v = body.if_contains(field);
    const bool omitted = v == nullptr || (v->is_null() && std::string_view(field) == "credentials");
    if (!omitted && !v->is_object()) throw invalid(std::string(field) + " must be an object");
  }
  new_profile p;
  p.account = account;
  p.integration = mcp::text_of(body, "integration");
  p.url = mcp::text_of(body, "url");
  const auto* oauth = body.if_contains("oauth");
  if (p.url.empty()) {
    if (oauth != nullptr) throw invalid("oauth requires url: an integration has its own settings");
    const auto at = offered_.find(p.integration);
    if (at == offered_.end()) throw invalid("integration is not one of the offered integrations");
    p.credentials = read_credentials(at->second, body.if_contains("credentials"));
    p.display_name = p.integration;
  } else {
    // A custom server of the account that requires OAuth.
    if (!p.integration.empty()) throw invalid("integration and url are mutually exclusive");
    const auto st = ctx_.http_client().check_url(p.url);
    if (st == RY_PERMISSION_DENIED) throw invalid("MCP URL points to a private or local address");
    if (st != RY_OK) throw invalid("url is not a valid http or https address");
    p.type = type.empty() ? "http" : type;
    const auto settings = oauth != nullptr ? oauth->get_object() : json::object();
    const auto read = oauth::read_settings(settings, "oauth");
    if (read.grant_type == oauth::settings::grant::id_jag && read.subject_token.empty()) {
      throw invalid("oauth.subject_token is required for id_jag");
    }
    p.credentials["oauth"] = settings;
    p.display_name = p.url;
  }
  if (name) p.display_name = *name;
  if (p.display_name.size() > max_name) p.display_name.resize(max_name);
  listed_profile created{"", p.integration, p.url, p.display_name};
  const auto id = co_await profiles_.add(std::move(p), max_profiles_);
  created.id = id.to_string();
  co_return ry::response::json(201, json::serialize(profile_json(created, offered_)));
}

ry::task<ry::response> routes::remove(ry::request r) const {
  const auto account = co_await enabled_account(r);
  co_await oauth_.remove(id_of(r), account);
  co_return ry::response::empty();
}

ry::task<ry::response> routes::connect(ry::request r) const {
  const auto account = co_await enabled_account(r);
  const ry::error timeout(RY_DEADLINE_EXCEEDED, "mcp.oauth", "the authorization server took too long");
  ry::error error(RY_OK);
  try {
    const auto url =
        co_await mcp::within(ctx_, remote_timeout_ms, timeout, oauth_.create_consent_link(id_of(r), account));
    co_return ry::response::json(json::serialize(json::object{{"connect_url", url}, {"expires_in", 600}}));
  } catch (const ry::error& e) {
    error = e;
  }
  throw as_http_error(ctx_, error, r.id());
}

ry::task<std::string> routes::account_name(ry::uuid account) const {
  ry::result<std::string> found = co_await ry::call<std::string, const ry_account_view*>(
      [&](ry_exec* exec, ry_account_fn fn, void* ctx) {
        const ry_uuid id = account;
        return accounts_->find(accounts_.self(), &id, exec, fn, ctx);
      },
      [](const ry_account_view* v) {
        return std::string(ry::view(v->email.len != 0 ? v->email : v->account_id_text));
      });
  co_return std::move(found).value();
}

ry::task<ry::response> routes::confirmation(ry::request r) const {
  const auto ticket = r.query("ticket").value_or("");
  std::optional<profile_store::confirmable> c;
  try {
    c = co_await profiles_.find_consent(ticket);
  } catch (const ry::error& e) {
    if (!e.is("mcp.consent")) throw;
  }
  if (!c) co_return invalid_link();
  const auto account = co_await account_name(c->consent.account);
  const auto name = cookie_name(c->state_hash, secure());
  // The page may be open twice in the same browser.
  auto cookie = cookie_value(r.header("Cookie"), name);
  if (cookie.empty()) cookie = oauth::random_text();
  const consent_summary summary{c->display_name, c->url, c->consent.flow.as.issuer, account};
  auto reply = confirmation_page(summary, ticket, form_token(cookie, ticket));
  reply.header("Set-Cookie", cookie_header(name, cookie, secure()));
  co_return reply;
}

ry::task<ry::response> routes::confirm(ry::request r) const {
  const auto ticket = r.query("ticket").value_or("");
  std::optional<profile_store::confirmable> c;
  std::string cookie;
  try {
    c = co_await profiles_.find_consent(ticket);
    cookie = cookie_value(r.header("Cookie"), cookie_name(c->state_hash, secure()));
    if (!cookie.empty() && r.query("confirm").value_or("") == form_token(cookie, ticket)) {
      co_await profiles_.confirm(ticket, cookie);
    } else {
      cookie.clear();
    }
  } catch (const ry::error& e) {
    if (!e.is("mcp.consent")) throw;
    c.reset();
  }
  if (!c) co_return invalid_link();
  if (cookie.empty()) {
    co_return message_page(403, "Not connected",
                           "The connection was not confirmed in this browser. Open the link again, and allow cookies.");
  }
  auto reply = message_page(303, "Connecting", "Redirecting to the log-in page.");
  reply.header("Location", c->consent.flow.url);
  co_return reply;
}

void routes::log_rejected_callback(std::string_view request_id, std::string_view reason) const {
  const auto n = callback_warnings_.due();
  if (n != 0)
    ctx_.warn("OAuth callbacks were refused", {{"request_id", request_id}, {"reason", reason}, {"refused", n}});
}

ry::task<ry::response> routes::callback(ry::request r) const {
  const auto text = [&](const char* name) { return r.query(name).value_or(""); };
  authorizer::authorization_response response{text("state"), text("code"), text("iss"), text("error")};
  const auto name = cookie_name(oauth::sha256(response.state), secure());
  auto cookie = cookie_value(r.header("Cookie"), name);
  if (cookie.empty()) {
    log_rejected_callback(r.id(), "its browser did not confirm the connection");
    co_return message_page(400, "Not connected",
                           "You did not start this connection in this browser, or the link has expired."
                           " Start again, and allow cookies for this site.");
  }
  profile_store::completed_by by;
  by.cookie = std::move(cookie);
  const ry::error timeout(RY_DEADLINE_EXCEEDED, "mcp.oauth", "the authorization server took too long");
  ry::error error(RY_OK);
  try {
    const auto connected = co_await mcp::within(ctx_, remote_timeout_ms, timeout,
                                                oauth_.complete_consent(std::move(response), std::move(by)));
    auto done = message_page(200, "Connected", connected + " is connected. You may close this page.");
    done.header("Set-Cookie", expired_cookie_header(name, secure()));
    co_return done;
  } catch (const ry::error& e) {
    error = e;
  }
  if (error.status() == RY_CANCELLED) throw error;
  if (error.is("mcp.consent")) {
    log_rejected_callback(r.id(), error.message());
  } else {
    ctx_.warn("a profile could not be connected", {{"request_id", r.id()},
                                                   {"reason", error.reason()},
                                                   {"error", error.message()},
                                                   {"detail", error.detail_json()}});
  }
  const bool for_users = error.reason().starts_with("mcp.");
  co_return message_page(for_users ? 400 : 500, "Not connected",
                         for_users ? std::string(error.message())
                                   : "The connection could not be completed because of an error of this server.");
}

ry::task<ry::response> routes::callback_by_app(ry::request r) const {
  const auto account = co_await enabled_account(r);
  const auto body = body_of(r);
  const auto text = [&](const char* name) { return mcp::text_of(body, name); };
  authorizer::authorization_response response{text("state"), text("code"), text("iss"), text("error")};
  profile_store::completed_by by;
  by.account = account;
  const ry::error timeout(RY_DEADLINE_EXCEEDED, "mcp.oauth", "the authorization server took too long");
  ry::error error(RY_OK);
  try {
    const auto name = co_await mcp::within(ctx_, remote_timeout_ms, timeout,
                                           oauth_.complete_consent(std::move(response), std::move(by)));
    co_return ry::response::json(json::serialize(json::object{{"connected", true}, {"display_name", name}}));
  } catch (const ry::error& e) {
    error = e;
  }
  throw as_http_error(ctx_, error, r.id());
}

ry::task<ry::response> routes::client_document(ry::request) const {
  const auto& p = oauth_.identity();
  if (p.redirect_uri.empty() || p.client_document_url.empty()) {
    throw ry::not_found("mcp.oauth", "This server has no client metadata document");
  }
  auto o = oauth::client_metadata(p.redirect_uri);
  o["client_id"] = p.client_document_url;
  o["token_endpoint_auth_method"] = "none";
  auto reply = ry::response::json(json::serialize(o));
  reply.header("Cache-Control", "max-age=3600");
  co_return reply;
}

}  // namespace mcp_prebuilt

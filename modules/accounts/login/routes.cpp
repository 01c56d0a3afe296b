#include "routes.hpp"

#include <ry/cpp/input.hpp>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "../body.hpp"
#include "../members.hpp"
#include "identity_message.hpp"
#include "openapi.hpp"
#include "webhook_signature.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

constexpr std::size_t max_body = 16 * 1024;
constexpr std::size_t max_webhook_body = 1024 * 1024;
constexpr std::size_t max_email = 1024;  // as typed; an international address is longer than its ASCII form
constexpr std::string_view cookie_name = "ry_session";

// Also rejects forms of other sites: a browser sends JSON to another origin only after a preflight request.
void require_json(const ry::request& r) {
  const auto type = r.header("Content-Type");
  constexpr std::string_view json_type = "application/json";
  if (type.size() < json_type.size() || !ry::iequals(type.substr(0, json_type.size()), json_type)) {
    throw ry::http_error(415, RY_INVALID_ARGUMENT, "accounts.content_type",
                         "The body must be sent as application/json");
  }
}

std::string required(const body& b, std::string_view name, std::size_t max_bytes) {
  auto v = b.text(name, 1, max_bytes);
  if (!v) throw body::invalid(name, "is required");
  return *std::move(v);
}

// Does not limit the length: the password check does, and its error names the limit.
std::string password_in(const body& b, std::string_view name) {
  if (!b.has(name)) throw body::invalid(name, "is required");
  return b.raw_text(name);
}

// Whether the refresh token is requested as a cookie, which scripts cannot read.
bool wants_cookie(const body& b) {
  const auto v = b.text("session", 1, 16);
  if (!v || *v == "body") return false;
  if (*v != "cookie") throw body::invalid("session", "must be \"cookie\" or \"body\"");
  return true;
}

std::string token_in_cookie(const ry::request& r) {
  auto all = r.header("Cookie");
  while (!all.empty()) {
    const auto end = std::min(all.find(';'), all.size());
    auto cookie_pair = all.substr(0, end);
    all.remove_prefix(std::min(end + 1, all.size()));
    while (!cookie_pair.empty() && cookie_pair.front() == ' ') cookie_pair.remove_prefix(1);
    if (cookie_pair.substr(0, cookie_name.size()) == cookie_name && cookie_pair.size() > cookie_name.size() &&
        cookie_pair[cookie_name.size()] == '=') {
      return std::string(cookie_pair.substr(cookie_name.size() + 1));
    }
  }
  return {};
}

void require_login(const ry::request& r) {
  if (ry::view(r.principal()->auth_kind) == "api_key") {
    throw ry::forbidden("accounts.needs_token", "An API key may not change how its owner logs in");
  }
}

std::optional<ry::uuid> session_of(const ry::request& r) {
  return ry::uuid::parse(clean_claim(*r.principal(), "sid", 200));
}

ry::response no_store(ry::response r) {
  return r.header("Cache-Control", "no-store");
}

}  // namespace

void login_routes::add_to(ry::registrar& reg) {
  reg.route("GET", "/auth/config", RY_ROUTE_PUBLIC, this, &login_routes::login_config);
  if (!settings_.webhook_senders.empty()) {
    reg.route("POST", "/auth/webhooks/identity", RY_ROUTE_PUBLIC, this, &login_routes::identity_webhook,
              {.max_body = max_webhook_body});
    reg.describe(ry_openapi::identity_webhook);
  }
  if (!settings_.enabled) return;
  const ry::route_options small{.max_body = max_body};
  reg.route("POST", "/auth/sign-up", RY_ROUTE_PUBLIC, this, &login_routes::sign_up, small);
  reg.route("POST", "/auth/verify", RY_ROUTE_PUBLIC, this, &login_routes::verify, small);
  reg.route("POST", "/auth/log-in", RY_ROUTE_PUBLIC, this, &login_routes::log_in, small);
  reg.route("POST", "/auth/refresh", RY_ROUTE_PUBLIC, this, &login_routes::refresh, small);
  reg.route("POST", "/auth/log-out", RY_ROUTE_PUBLIC, this, &login_routes::log_out, small);
  reg.route("POST", "/auth/reset", RY_ROUTE_PUBLIC, this, &login_routes::request_reset, small);
  reg.route("POST", "/auth/reset/complete", RY_ROUTE_PUBLIC, this, &login_routes::complete_reset, small);
  reg.route("POST", "/auth/password", 0, this, &login_routes::change_password, small);
  reg.route("GET", "/auth/sessions", 0, this, &login_routes::list_sessions);
  reg.route("DELETE", "/auth/sessions", 0, this, &login_routes::end_all_sessions);
  reg.route("DELETE", "/auth/sessions/{id}", 0, this, &login_routes::end_session);
  reg.describe(ry_openapi::login);
}

ry::task<ry::response> login_routes::login_config(ry::request) {
  json::object o;
  o["local_login"] = settings_.enabled;
  if (settings_.enabled) {
    o["verify"] = settings_.verify == verification::email ? "email" : "none";
    o["min_password"] = settings_.min_password;
    const bool setup = co_await logins_.needs_setup();
    if (setup) o["setup"] = true;
  }
  co_return ry::response::json(json::serialize(o)).header("Cache-Control", "no-cache");
}

std::string login_routes::cookie(std::string_view value, std::int64_t seconds) const {
  std::string out = std::string(cookie_name) + "=" + std::string(value) +
                    "; Path=/; Max-Age=" + std::to_string(seconds) + "; HttpOnly; SameSite=Strict";
  if (settings_.app_url.rfind("https://", 0) == 0) out += "; Secure";
  return out;
}

ry::response login_routes::token_response(std::uint32_t status, session_tokens t, bool in_cookie) const {
  json::object o;
  o["access_token"] = t.access;
  o["token_type"] = "Bearer";
  o["expires_in"] = t.expires_in;
  if (!in_cookie) o["refresh_token"] = t.refresh;
  o["account_id"] = t.who.account.to_string();
  o["email"] = t.who.email;
  auto out = no_store(ry::response::json(status, json::serialize(o)));
  if (in_cookie) out.header("Set-Cookie", cookie(t.refresh, settings_.session_days * 86'400));
  return out;
}

ry::task<ry::response> login_routes::sign_up(ry::request r) {
  require_json(r);
  const body b(r.body(), {"email", "password", "name", "referral_code", "setup_code", "session"});
  const bool in_cookie = wants_cookie(b);
  sign_up_form form;
  form.email = required(b, "email", max_email);
  form.password = password_in(b, "password");
  form.name = b.name("name", 200).value_or("");
  form.referral_code = b.text("referral_code", 0, 64).value_or("");
  form.setup_code = b.text("setup_code", 0, 128).value_or("");
  auto result = co_await logins_.sign_up(std::move(form), caller_of(r));
  if (result.tokens) co_return token_response(201, *std::move(result.tokens), in_cookie);
  json::object o;
  o["status"] = "check_mail";
  o["proof"] = result.proof;
  co_return no_store(ry::response::json(202, json::serialize(o)));
}

ry::task<ry::response> login_routes::verify(ry::request r) {
  require_json(r);
  const body b(r.body(), {"token", "proof", "password", "session"});
  const bool in_cookie = wants_cookie(b);
  auto token = required(b, "token", 128);
  auto proof = b.text("proof", 1, 128).value_or("");
  std::string password = b.has("password") ? b.raw_text("password") : std::string();
  auto t = co_await logins_.verify(std::move(token), std::move(proof), std::move(password), caller_of(r));
  co_return token_response(200, std::move(t), in_cookie);
}

ry::task<ry::response> login_routes::log_in(ry::request r) {
  require_json(r);
  const body b(r.body(), {"email", "password", "session"});
  const bool in_cookie = wants_cookie(b);
  auto email = required(b, "email", max_email);
  auto password = password_in(b, "password");
  auto t = co_await logins_.log_in(std::move(email), std::move(password), caller_of(r));
  co_return token_response(200, std::move(t), in_cookie);
}

ry::task<ry::response> login_routes::refresh(ry::request r) {
  require_json(r);
  const body b(r.body(), {"refresh_token"});
  auto token = b.text("refresh_token", 1, 128).value_or("");
  const bool in_cookie = token.empty();
  if (in_cookie) token = token_in_cookie(r);
  std::optional<session_tokens> t;
  if (!token.empty()) t = co_await logins_.all_sessions().refresh(std::move(token));
  if (!t) {
    auto out = no_store(ry::response::json(401, R"({"detail":"Not authenticated"})"));
    if (in_cookie && !token_in_cookie(r).empty()) out.header("Set-Cookie", cookie("", 0));
    co_return out;
  }
  co_return token_response(200, *std::move(t), in_cookie);
}

// Works with an expired access token as well: the refresh token is sufficient to end the session.
ry::task<ry::response> login_routes::log_out(ry::request r) {
  require_json(r);
  const body b(r.body(), {"refresh_token"});
  auto token = b.text("refresh_token", 1, 128).value_or(token_in_cookie(r));
  if (!token.empty()) {
    co_await logins_.all_sessions().end_by_token(std::move(token));
  } else if (r.principal() != nullptr) {
    const auto session = session_of(r);
    if (session) {
      const auto account = co_await cache_.account_of(r.principal());
      co_await logins_.all_sessions().end(account->id, session, std::nullopt);
    }
  }
  auto out = ry::response::empty();
  if (!token_in_cookie(r).empty()) out.header("Set-Cookie", cookie("", 0));
  co_return out;
}

ry::task<ry::response> login_routes::request_reset(ry::request r) {
  require_json(r);
  const body b(r.body(), {"email"});
  auto email = required(b, "email", max_email);
  co_await logins_.request_reset(std::move(email), caller_of(r));
  co_return no_store(ry::response::json(202, R"({"status":"check_mail"})"));
}

ry::task<ry::response> login_routes::complete_reset(ry::request r) {
  require_json(r);
  const body b(r.body(), {"token", "password", "session"});
  const bool in_cookie = wants_cookie(b);
  auto token = required(b, "token", 128);
  auto password = password_in(b, "password");
  auto t = co_await logins_.complete_reset(std::move(token), std::move(password), caller_of(r));
  co_return token_response(200, std::move(t), in_cookie);
}

ry::task<ry::response> login_routes::change_password(ry::request r) {
  require_login(r);
  require_json(r);
  const body b(r.body(), {"current_password", "new_password", "keep_api_keys"});
  auto current = password_in(b, "current_password");
  auto next = password_in(b, "new_password");
  const auto account = co_await cache_.account_of(r.principal());
  const auto session = session_of(r);
  co_await logins_.change_password(account->id, std::move(current), std::move(next), session,
                                   b.flag("keep_api_keys").value_or(false));
  co_return ry::response::empty();
}

ry::task<ry::response> login_routes::list_sessions(ry::request r) {
  const auto account = co_await cache_.account_of(r.principal());
  auto sid = clean_claim(*r.principal(), "sid", 200);
  auto list = co_await logins_.repo().list_sessions(account->id, std::move(sid));
  co_return no_store(ry::response::json("{\"sessions\":" + list + "}"));
}

ry::task<ry::response> login_routes::end_session(ry::request r) {
  require_login(r);
  const auto id = ry::require_uuid(r.param("id"));
  const auto account = co_await cache_.account_of(r.principal());
  co_await logins_.all_sessions().end(account->id, id, std::nullopt);
  co_return ry::response::empty();
}

ry::task<ry::response> login_routes::end_all_sessions(ry::request r) {
  require_login(r);
  const auto text = r.query("revoke_api_keys").value_or("false");
  const bool revoke_api_keys = ry::iequals(text, "true");
  if (!revoke_api_keys && !ry::iequals(text, "false")) throw body::invalid("revoke_api_keys", "must be true or false");
  const auto account = co_await cache_.account_of(r.principal());
  co_await logins_.all_sessions().end_all(account->id, revoke_api_keys);
  ry::job_queue(ctx_).wake("default");
  co_return ry::response::empty();
}

namespace {

struct authenticated_sender {
  const webhook_sender* sender;
  std::string message;  // id of the message
};

// nullopt: the message has neither a valid signature nor a known token.
std::optional<authenticated_sender> sender_of(const std::vector<webhook_sender>& senders, const ry::request& r,
                                              const ry::context& ctx) {
  const standard_webhooks::header_fn header = [&r](std::string_view name) { return r.header(name); };
  const auto token = r.header("X-Webhook-Token");
  const auto token_hash = hash_secret(token);
  for (const auto& s : senders) {
    if (const auto id = standard_webhooks::verified(s.keys, header, r.body(), ctx.now_unix_us() / 1'000'000)) {
      return authenticated_sender{&s, *id};
    }
    const bool matches =
        std::any_of(s.tokens.begin(), s.tokens.end(), [&](const std::string& t) { return same_hash(t, token_hash); });
    // Such a message has no id; handling it twice has no effect.
    if (matches && !token.empty()) return authenticated_sender{&s, "token:" + ctx.new_uuid().to_string()};
  }
  return std::nullopt;
}

}  // namespace

ry::task<ry::response> login_routes::identity_webhook(ry::request r) {
  const auto from = sender_of(settings_.webhook_senders, r, ctx_);
  if (!from) throw ry::http_error(401, RY_UNAUTHENTICATED, "accounts.signature", "Invalid signature");
  auto m = read_identity_message(r.body());
  ctx_.info("identity webhook", {{"type", m.type}, {"webhook", from->message}});
  // Send e-mails first, because the provider creates no user if the e-mail cannot be sent.
  if (!m.mails.empty()) co_await logins_.send_provider_emails(from->message, std::move(m.mails));
  if (!m.deleted.empty()) {
    co_await logins_.close_identity(from->message, from->sender->subject_prefix + m.deleted);
  } else if (m.who && (cfg_.allow_anonymous || m.who->anonymous != true)) {
    // The subject is the account's id only if there is no prefix.
    if (!from->sender->subject_prefix.empty()) m.who->id.reset();
    m.who->subject = from->sender->subject_prefix + m.who->subject;
    const auto subject = m.who->subject;
    co_await logins_.repo().apply_identity(from->message, *std::move(m.who), cfg_.default_tier);
    cache_.invalidate(subject);
  }
  co_return ry::response::json(R"({"status":"ok"})");
}

}  // namespace accounts

#include "authorizer.hpp"

#include "crypto.hpp"
#include "deadline.hpp"

namespace mcp_prebuilt {
namespace {

constexpr std::uint64_t renewal_ms = 25'000;
constexpr std::int64_t taken_seconds = 40;
constexpr std::uint64_t look_again_ms = 100;
constexpr std::int64_t consent_seconds = 600;
// A token that expires within this time is not used for a new call.
constexpr std::int64_t margin_us = 30LL * 1'000'000;

using grant = oauth::settings::grant;

ry::error refused(std::string what) {
  return ry::unauthenticated("mcp.oauth", std::move(what));
}

ry::error wants_consent(const profile& p) {
  return refused("it requires the user's consent: connect the profile " + p.id.to_string() + " (POST /mcp/profiles/" +
                 p.id.to_string() + "/connect)");
}

bool grows_scope(const std::optional<oauth::challenge>& said) {
  return said && (said->error == "insufficient_scope" || (said->error.empty() && !said->scope.empty()));
}

std::string bearer(const profile& p) {
  return p.agreed.has_token() ? "Bearer " + p.agreed.tokens.access : std::string();
}

// The credentials that the server rejected.
std::string refused_credentials(const ry::mcp::refusal& r) {
  const auto v = mcp::parse(r.config_json);
  return v.is_object() ? mcp::text_of(v.get_object(), "authorization") : std::string();
}

}  // namespace

bool authorizer::expired(const profile& p) const {
  const auto& t = p.agreed.tokens;
  const bool renewable = !t.refresh.empty() || p.oauth->by != grant::authorization_code;
  return renewable && t.expires_us != 0 && t.expires_us - margin_us < ctx_.now_unix_us();
}

ry::mcp::resolved authorizer::named(const profile& p) const {
  json::object config{{"url", p.url}, {"headers", p.headers}};
  if (p.oauth && p.agreed.has_token()) {
    config["connection"] = p.agreed.id;
    config["authorization"] = bearer(p);
    if (expired(p)) config["expired"] = true;
  }
  return {p.type, json::serialize(config)};
}

// ---- renewal ----------------------------------------------------------------------------------

struct authorizer::renewal {
  renewal(ry::uuid id, ry::uuid account, ry::mcp::refusal r) : id(id), account(account), refusal(std::move(r)) {}
  ry::uuid id, account;
  ry::mcp::refusal refusal;
  std::optional<ry::mcp::resolved> found;
  ry::error why{RY_OK};
  ry::signal done;
  bool over = false;
};

ry::task<ry::mcp::resolved> authorizer::renewed(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const {
  auto state = std::make_shared<renewal>(id, account, std::move(r));
  ry_exec* exec = co_await ry::this_exec();
  if (!ctx_.spawn(run(state), exec)) throw ry::unavailable("mcp.stopping", "The server is stopping");
  while (!state->over) {
    const auto woken = co_await state->done.wait();
    if (!woken.ok() && !state->over) throw woken.error();
  }
  if (!state->found) throw state->why;
  co_return std::move(*state->found);
}

ry::task<void> authorizer::run(std::shared_ptr<renewal> r) const {
  const ry::error late(RY_DEADLINE_EXCEEDED, "mcp.oauth", "its authorization server took too long");
  try {
    r->found = co_await mcp::within(ctx_, renewal_ms, late, renew(r->id, r->account, r->refusal));
  } catch (...) {
    r->why = ry::current_error();
  }
  r->over = true;
  r->done.set();
}

ry::task<ry::mcp::resolved> authorizer::renew(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const {
  for (;;) {
    const bool mine = co_await profiles_.take(id, taken_seconds);
    if (mine) break;
    // Another worker is renewing it, or the profile is gone, in which case find() throws.
    const profile now = co_await profiles_.find(id, account);
    if (bearer(now) != refused_credentials(r)) co_return named(now);
    (co_await ctx_.sleep(look_again_ms)).value();
  }
  ry::error why(RY_OK);
  try {
    co_return co_await renew_taken(id, account, std::move(r));
  } catch (...) {
    why = ry::current_error();
  }
  co_await profiles_.release(id);
  throw why;
}

ry::task<ry::mcp::resolved> authorizer::renew_taken(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const {
  profile p = co_await profiles_.find(id, account);
  if (!p.oauth) throw refused("it rejects the credentials of the profile");
  const bool untried = r.http_status == 0;
  const bool renewed_meanwhile = p.agreed.has_token() && (untried ? !expired(p) : bearer(p) != refused_credentials(r));
  if (renewed_meanwhile) {
    co_await profiles_.release(id);
    co_return named(p);
  }
  const auto said = oauth::read_challenge(r.authenticate);
  if (r.http_status == 403 && !grows_scope(said)) throw refused("it refuses this: HTTP status 403");
  const bool step_up = r.http_status == 403;

  // The operator may have set the integration's issuer in the meantime.
  const auto& pinned = p.oauth->issuer;
  const bool allowed = pinned.empty() || oauth::same_issuer(pinned, p.agreed.as.issuer);
  if (untried && allowed && !p.agreed.tokens.refresh.empty()) {
    const bool fresh = co_await refresh(p);
    if (fresh) co_return named(p);
  }
  const bool alone = p.oauth->by != grant::authorization_code;
  const auto wanted = alone ? oauth::consent::none : oauth::consent::of_user;
  const auto remote = remote_for(account);
  const oauth::discovered d =
      co_await remote.discover(p.url, said.value_or(oauth::challenge()), wanted, p.oauth->issuer);
  adopt(p, d);
  if (!step_up && !p.agreed.tokens.refresh.empty()) {
    const bool fresh = co_await refresh(p);
    if (fresh) co_return named(p);
  }
  const auto asked_for = said ? said->scope : std::string();
  const auto granted = step_up ? p.agreed.tokens.scope : std::string();
  if (step_up && !granted.empty() && oauth::contains_all(granted, asked_for)) {
    throw refused("it requires the scope " + asked_for + ", which was already granted");
  }
  if (alone) {
    co_await prove(p, oauth::wanted_scope(*p.oauth, asked_for, d.resource.scopes, granted));
    co_return named(p);
  }
  p.agreed.wanted = said.value_or(oauth::challenge());
  p.agreed.wanted.scope = oauth::united(granted, asked_for);
  co_await profiles_.keep(id, p.agreed);
  throw wants_consent(p);
}

// Binds the agreement to the discovered authorization server. Tokens and registrations of another one are discarded.
void authorizer::adopt(profile& p, const oauth::discovered& d) const {
  auto& c = p.agreed;
  const auto& pinned = p.oauth->issuer;
  const auto& asked = d.resource.authorization_server;
  if (!pinned.empty() && !oauth::same_issuer(pinned, d.as.issuer) && !oauth::same_issuer(pinned, asked)) {
    throw refused("it names the authorization server " + d.as.issuer + ", the profile allows " + pinned);
  }
  // Only the profile says that these issuers are the same, so a secret is sent only to the issuer's host.
  const bool by_profile = !oauth::same_issuer(asked, d.as.issuer);
  const bool proves = !p.oauth->client_secret.empty() || !p.oauth->private_key.empty();
  if (by_profile && proves && !(oauth::on_host_of(asked, pinned) && oauth::on_host_of(d.as.token_endpoint, pinned))) {
    throw refused("it names the authorization server " + asked + ", which is not on the host of the issuer " + pinned +
                  " that the profile's secret is for");
  }
  const bool another = c.as.issuer != d.as.issuer || (by_profile && c.as.token_endpoint != d.as.token_endpoint);
  if (!c.as.issuer.empty() && another) {
    if (!p.oauth->client_id.empty() && pinned.empty()) {
      throw refused("its authorization server was " + c.as.issuer + " and is now " + d.as.issuer +
                    "; the profile's client_id belongs to the former");
    }
    c.who = {};
    c.tokens = {};
  }
  c.as = d.as;
  c.resource = d.resource.resource;
}

oauth::client authorizer::own_client(const profile& p) const {
  const auto& s = *p.oauth;
  return {s.client_id, s.client_secret, s.private_key, s.key_id, s.auth_method, presence_.redirect_uri};
}

// Returns false if the refresh token is invalid.
ry::task<bool> authorizer::refresh(profile& p) const {
  auto& c = p.agreed;
  const auto remote = remote_for(p.account);
  ry::error why(RY_OK);
  try {
    oauth::parameters ask{
        {"grant_type", "refresh_token"}, {"refresh_token", c.tokens.refresh}, {"resource", c.resource}};
    // The operator may have changed the configured secret in the meantime.
    if (!p.oauth->client_id.empty()) c.who = own_client(p);
    auto fresh = co_await remote.request(c.as, c.who, std::move(ask));
    if (fresh.refresh.empty()) fresh.refresh = c.tokens.refresh;
    if (fresh.scope.empty()) fresh.scope = c.tokens.scope;
    c.tokens = std::move(fresh);
  } catch (const ry::error& e) {
    why = e;
  }
  if (why.status() != RY_OK && !oauth::voids_refresh(why)) throw why;
  if (why.status() != RY_OK) {
    ctx_.warn("a refresh token was rejected permanently; the user must consent again",
              {{"profile", p.id.to_string()}, {"error", why.message()}});
    c.tokens = {};
    forget_client(p, why);
  }
  co_await profiles_.keep(p.id, c);
  co_return why.status() == RY_OK;
}

// If the authorization server no longer knows a dynamic registration, drop it; the next consent registers again.
void authorizer::forget_client(profile& p, const ry::error& why) const {
  if (why.is("mcp.oauth.unknown_client") && p.oauth && p.oauth->client_id.empty()) p.agreed.who = {};
}

// id_jag: the identity provider of the user's organization asserts that the user may use the server.
ry::task<oauth::parameters> authorizer::identified(const profile& p, std::string scope) const {
  if (p.oauth->subject_token.empty()) throw refused("the profile has no subject_token, which identifies its user");
  const auto remote = remote_for(p.account);
  ry::error why(RY_OK);
  try {
    const auto assertion = co_await remote.identity_assertion(*p.oauth, p.agreed.as.issuer, p.agreed.resource, scope);
    co_return oauth::assertion_parameters(assertion);
  } catch (const ry::error& e) {
    why = e;
  }
  if (!why.is("mcp.oauth.refused")) throw why;
  ctx_.warn("an identity provider refused the identity of a user",
            {{"profile", p.id.to_string()}, {"idp", p.oauth->idp_issuer}, {"error", why.message()}});
  throw refused(
      "the identity provider " + p.oauth->idp_issuer +
      " does not accept the profile's subject_token for this server: create the profile again with a current one");
}

// Grants without a user's consent: client_credentials, with which this server acts for itself, and id_jag.
ry::task<void> authorizer::prove(profile& p, std::string scope) const {
  auto& c = p.agreed;
  c.who = own_client(p);
  oauth::parameters ask{{"grant_type", "client_credentials"}, {"scope", scope}, {"resource", c.resource}};
  if (p.oauth->by == grant::id_jag) ask = co_await identified(p, scope);
  const auto remote = remote_for(p.account);
  c.tokens = co_await remote.request(c.as, c.who, std::move(ask));
  if (c.tokens.scope.empty()) c.tokens.scope = scope;
  if (c.id.empty()) c.id = ctx_.new_uuid().to_string();
  co_await profiles_.keep(p.id, c);
}

ry::task<void> authorizer::take_when_free(ry::uuid id, ry::uuid account) const {
  for (;;) {
    const bool mine = co_await profiles_.take(id, taken_seconds);
    if (mine) co_return;
    (void)co_await profiles_.find(id, account);  // throws if it is gone
    (co_await ctx_.sleep(look_again_ms)).value();
  }
}

// ---- the end ----------------------------------------------------------------------------------

ry::task<void> authorizer::retire(ry::uuid id, ry::uuid account) const {
  connection last;
  try {
    profile p = co_await profiles_.find(id, account);
    last = std::move(p.agreed);
  } catch (const ry::error& e) {
    // A profile whose integration or key is gone can still be removed.
    if (e.status() == RY_NOT_FOUND) throw;
  }
  co_await profiles_.remove(id, account);
  if (last.has_token()) (void)ctx_.spawn(take_back(std::move(last), account));
}

ry::task<void> authorizer::take_back(connection c, ry::uuid account) const {
  const auto remote = remote_for(account);
  for (const auto& token : {c.tokens.refresh, c.tokens.access}) {
    try {
      co_await remote.revoke(c.as, c.who, token);
    } catch (const ry::error& e) {
      ctx_.warn("a token could not be taken back", {{"issuer", c.as.issuer}, {"error", e.message()}});
    }
  }
}

// ---- consent ----------------------------------------------------------------------------------

ry::task<std::string> authorizer::link(ry::uuid id, ry::uuid account) const {
  profile p = co_await profiles_.find(id, account);
  if (!p.oauth || p.oauth->by != grant::authorization_code) {
    throw ry::precondition("mcp.oauth", "This profile needs no consent");
  }
  if (presence_.redirect_uri.empty()) {
    throw ry::precondition("mcp.oauth", "The operator has to set http.public_url before users can connect");
  }
  const auto remote = remote_for(account);
  auto said = p.agreed.wanted;
  if (said.resource_metadata.empty() && said.scope.empty()) said = co_await remote.provoke(p.url);
  const oauth::discovered d = co_await remote.discover(p.url, said, oauth::consent::of_user, p.oauth->issuer);
  adopt(p, d);
  auto& c = p.agreed;
  if (!p.oauth->client_id.empty()) {
    c.who = own_client(p);
  } else if (d.as.client_documents && !presence_.client_document_url.empty()) {
    c.who = {};
    c.who.id = presence_.client_document_url;
    c.who.auth_method = "none";
    c.who.redirect_uri = presence_.redirect_uri;
  } else if (const bool stuck = co_await profiles_.expects(id);
             stuck || c.who.id.empty() || c.who.redirect_uri != presence_.redirect_uri) {
    // A consent that was never completed may have failed because the authorization server no longer knows this client.
    c.who = co_await remote.enlist(d.as, presence_.redirect_uri);
  }
  const auto scope = oauth::wanted_scope(*p.oauth, said.scope, d.resource.scopes, {});
  const auto request = oauth::authorization_request(c.as, c.who, c.resource, scope);
  consent_flow flow{request.verifier, c.resource, scope, request.url, c.as, c.who};
  std::optional<std::string> ticket;
  std::string url = request.url;
  if (!presence_.confirmation_url.empty()) {
    ticket = oauth::random_text();
    url = presence_.confirmation_url + "?ticket=" + *ticket;
  }
  co_await profiles_.expect(id, request.state, std::move(ticket), std::move(flow), consent_seconds);
  co_return url;
}

// Drops a client registration that the authorization server rejected during a consent.
ry::task<void> authorizer::forget_client_of(const profile_store::expected& e) const {
  co_await take_when_free(e.profile, e.account);
  profile p = co_await profiles_.find(e.profile, e.account);
  if (p.agreed.who.id == e.flow.who.id)
    forget_client(p, ry::unauthenticated("mcp.oauth.unknown_client", "the client is not known"));
  co_await profiles_.keep(e.profile, p.agreed);
}

ry::task<std::string> authorizer::conclude(answer a, profile_store::conclusion by) const {
  const auto e = co_await profiles_.consume(a.state, std::move(by));
  const auto& as = e.flow.as;
  // RFC 9207: a response of another server is not trusted, not even its error.
  if ((!a.issuer.empty() && a.issuer != as.issuer) || (a.issuer.empty() && as.names_issuer)) {
    throw refused("The response does not come from the authorization server of the request");
  }
  if (!a.error.empty() || a.code.empty()) {
    ctx_.warn("an authorization server refused a consent",
              {{"issuer", as.issuer}, {"oauth_error", a.error.substr(0, 100)}});
    if (a.error == "invalid_client" || a.error == "unauthorized_client") co_await forget_client_of(e);
    throw refused(a.error == "access_denied" ? "The connection was declined"
                                             : "The authorization server did not agree to the connection");
  }
  connection c;
  c.id = ctx_.new_uuid().to_string();
  c.resource = e.flow.resource;
  c.as = as;
  c.who = e.flow.who;
  oauth::parameters ask{{"grant_type", "authorization_code"},
                        {"code", a.code},
                        {"redirect_uri", c.who.redirect_uri},
                        {"code_verifier", e.flow.verifier},
                        {"resource", c.resource}};
  const auto remote = remote_for(e.account);
  ry::error why(RY_OK);
  try {
    c.tokens = co_await remote.request(as, c.who, std::move(ask));
  } catch (const ry::error& failure) {
    why = failure;
  }
  if (why.is("mcp.oauth.unknown_client")) co_await forget_client_of(e);
  if (why.status() != RY_OK) throw why;
  if (c.tokens.scope.empty()) c.tokens.scope = e.flow.scope;
  // Otherwise a concurrent renewal could overwrite the new agreement with the old one.
  co_await take_when_free(e.profile, e.account);
  co_await profiles_.keep(e.profile, c);
  const profile p = co_await profiles_.find(e.profile, e.account);
  co_return p.display_name;
}

}  // namespace mcp_prebuilt

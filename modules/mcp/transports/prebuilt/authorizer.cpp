#include "authorizer.hpp"

#include "crypto.hpp"
#include "deadline.hpp"

namespace mcp_prebuilt {
namespace {

constexpr std::uint64_t renewal_timeout_ms = 25'000;
constexpr std::int64_t lease_seconds = 40;
constexpr std::uint64_t lease_retry_ms = 100;
constexpr std::int64_t consent_seconds = 600;
// A token that expires within this time is not used for a new call.
constexpr std::int64_t expiry_margin_us = 30LL * 1'000'000;

using grant = oauth::settings::grant;

ry::error unauthenticated(std::string message) {
  return ry::unauthenticated("mcp.oauth", std::move(message));
}

ry::error consent_required(const profile& p) {
  return unauthenticated("it requires the user's consent: connect the profile " + p.id.to_string() +
                         " (POST /mcp/profiles/" + p.id.to_string() + "/connect)");
}

bool requires_more_scope(const std::optional<oauth::challenge>& c) {
  return c && (c->error == "insufficient_scope" || (c->error.empty() && !c->scope.empty()));
}

std::string authorization_of(const profile& p) {
  return p.agreed.has_token() ? "Bearer " + p.agreed.tokens.access : std::string();
}

// The credentials that the server rejected.
std::string rejected_authorization(const ry::mcp::refusal& r) {
  const auto v = mcp::parse(r.config_json);
  return v.is_object() ? mcp::text_of(v.get_object(), "authorization") : std::string();
}

}  // namespace

bool authorizer::is_expired(const profile& p) const {
  const auto& t = p.agreed.tokens;
  const bool renewable = !t.refresh.empty() || p.oauth->grant_type != grant::authorization_code;
  return renewable && t.expires_us != 0 && t.expires_us - expiry_margin_us < ctx_.now_unix_us();
}

ry::mcp::resolved authorizer::resolve(const profile& p) const {
  json::object config{{"url", p.url}, {"headers", p.headers}};
  if (p.oauth && p.agreed.has_token()) {
    config["connection"] = p.agreed.id;
    config["authorization"] = authorization_of(p);
    if (is_expired(p)) config["expired"] = true;
  }
  return {p.type, json::serialize(config)};
}

// ---- renewal ----------------------------------------------------------------------------------

struct authorizer::renewal {
  renewal(ry::uuid id, ry::uuid account, ry::mcp::refusal r) : id(id), account(account), refusal(std::move(r)) {}
  ry::uuid id, account;
  ry::mcp::refusal refusal;
  std::optional<ry::mcp::resolved> result;
  ry::error error{RY_OK};
  ry::signal done;
  bool completed = false;
};

ry::task<ry::mcp::resolved> authorizer::renew(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const {
  auto state = std::make_shared<renewal>(id, account, std::move(r));
  ry_exec* exec = co_await ry::this_exec();
  if (!ctx_.spawn(run(state), exec)) throw ry::unavailable("mcp.stopping", "The server is stopping");
  while (!state->completed) {
    const auto woken = co_await state->done.wait();
    if (!woken.ok() && !state->completed) throw woken.error();
  }
  if (!state->result) throw state->error;
  co_return std::move(*state->result);
}

ry::task<void> authorizer::run(std::shared_ptr<renewal> r) const {
  const ry::error timeout(RY_DEADLINE_EXCEEDED, "mcp.oauth", "its authorization server took too long");
  try {
    r->result = co_await mcp::within(ctx_, renewal_timeout_ms, timeout, renew_once(r->id, r->account, r->refusal));
  } catch (...) {
    r->error = ry::current_error();
  }
  r->completed = true;
  r->done.set();
}

ry::task<ry::mcp::resolved> authorizer::renew_once(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const {
  for (;;) {
    const bool leased = co_await profiles_.try_lease(id, lease_seconds);
    if (leased) break;
    // Another worker is renewing the tokens, or the profile was deleted: then find() throws.
    const profile current = co_await profiles_.find(id, account);
    if (authorization_of(current) != rejected_authorization(r)) co_return resolve(current);
    (co_await ctx_.sleep(lease_retry_ms)).value();
  }
  ry::error error(RY_OK);
  try {
    co_return co_await renew_leased(id, account, std::move(r));
  } catch (...) {
    error = ry::current_error();
  }
  co_await profiles_.release(id);
  throw error;
}

ry::task<ry::mcp::resolved> authorizer::renew_leased(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const {
  profile p = co_await profiles_.find(id, account);
  if (!p.oauth) throw unauthenticated("it rejects the credentials of the profile");
  const bool before_first_use = r.http_status == 0;
  const bool renewed_meanwhile =
      p.agreed.has_token() && (before_first_use ? !is_expired(p) : authorization_of(p) != rejected_authorization(r));
  if (renewed_meanwhile) {
    co_await profiles_.release(id);
    co_return resolve(p);
  }
  const auto challenge = oauth::read_challenge(r.authenticate);
  if (r.http_status == 403 && !requires_more_scope(challenge))
    throw unauthenticated("it denied access (HTTP status 403)");
  const bool step_up = r.http_status == 403;

  // The operator may have set the integration's issuer in the meantime.
  const auto& pinned = p.oauth->issuer;
  const bool issuer_allowed = pinned.empty() || oauth::same_issuer(pinned, p.agreed.as.issuer);
  if (before_first_use && issuer_allowed && !p.agreed.tokens.refresh.empty()) {
    const bool refreshed = co_await refresh(p);
    if (refreshed) co_return resolve(p);
  }
  const bool without_user = p.oauth->grant_type != grant::authorization_code;
  const auto consent = without_user ? oauth::consent::none : oauth::consent::of_user;
  const auto remote = remote_for(account);
  const oauth::discovered d =
      co_await remote.discover(p.url, challenge.value_or(oauth::challenge()), consent, p.oauth->issuer);
  bind_to(p, d);
  if (!step_up && !p.agreed.tokens.refresh.empty()) {
    const bool refreshed = co_await refresh(p);
    if (refreshed) co_return resolve(p);
  }
  const auto requested_scope = challenge ? challenge->scope : std::string();
  const auto granted = step_up ? p.agreed.tokens.scope : std::string();
  if (step_up && !granted.empty() && oauth::contains_all(granted, requested_scope)) {
    throw unauthenticated("it requires the scope " + requested_scope + ", which was already granted");
  }
  if (without_user) {
    co_await request_own_token(p, oauth::scope_to_request(*p.oauth, requested_scope, d.resource.scopes, granted));
    co_return resolve(p);
  }
  p.agreed.pending = challenge.value_or(oauth::challenge());
  p.agreed.pending.scope = oauth::scope_union(granted, requested_scope);
  co_await profiles_.store(id, p.agreed);
  throw consent_required(p);
}

// Binds the profile to the discovered authorization server. Tokens and registrations of another one are discarded.
void authorizer::bind_to(profile& p, const oauth::discovered& d) const {
  auto& c = p.agreed;
  const auto& pinned = p.oauth->issuer;
  const auto& queried = d.resource.authorization_server;
  if (!pinned.empty() && !oauth::same_issuer(pinned, d.as.issuer) && !oauth::same_issuer(pinned, queried)) {
    throw unauthenticated("it names the authorization server " + d.as.issuer + ", the profile allows " + pinned);
  }
  // Only the profile claims that these issuers are the same, so a secret is sent only to the issuer's host.
  const bool trusted_by_profile = !oauth::same_issuer(queried, d.as.issuer);
  const bool has_secret = !p.oauth->client_secret.empty() || !p.oauth->private_key.empty();
  if (trusted_by_profile && has_secret &&
      !(oauth::on_host_of(queried, pinned) && oauth::on_host_of(d.as.token_endpoint, pinned))) {
    throw unauthenticated("it names the authorization server " + queried + ", which is not on the host of the issuer " +
                          pinned + " that the profile's secret is for");
  }
  const bool changed = c.as.issuer != d.as.issuer || (trusted_by_profile && c.as.token_endpoint != d.as.token_endpoint);
  if (!c.as.issuer.empty() && changed) {
    if (!p.oauth->client_id.empty() && pinned.empty()) {
      throw unauthenticated("its authorization server was " + c.as.issuer + " and is now " + d.as.issuer +
                            "; the profile's client_id belongs to the first one");
    }
    c.client = {};
    c.tokens = {};
  }
  c.as = d.as;
  c.resource = d.resource.resource;
}

oauth::client authorizer::configured_client(const profile& p) const {
  const auto& s = *p.oauth;
  return {s.client_id, s.client_secret, s.private_key, s.key_id, s.auth_method, identity_.redirect_uri};
}

// Returns false if the refresh token is invalid.
ry::task<bool> authorizer::refresh(profile& p) const {
  auto& c = p.agreed;
  const auto remote = remote_for(p.account);
  ry::error error(RY_OK);
  try {
    oauth::parameters parameters{
        {"grant_type", "refresh_token"}, {"refresh_token", c.tokens.refresh}, {"resource", c.resource}};
    // The operator may have changed the configured secret in the meantime.
    if (!p.oauth->client_id.empty()) c.client = configured_client(p);
    auto renewed = co_await remote.request(c.as, c.client, std::move(parameters));
    if (renewed.refresh.empty()) renewed.refresh = c.tokens.refresh;
    if (renewed.scope.empty()) renewed.scope = c.tokens.scope;
    c.tokens = std::move(renewed);
  } catch (const ry::error& e) {
    error = e;
  }
  if (error.status() != RY_OK && !oauth::invalidates_refresh_token(error)) throw error;
  if (error.status() != RY_OK) {
    ctx_.warn("a refresh token was rejected permanently; the user must consent again",
              {{"profile", p.id.to_string()}, {"error", error.message()}});
    c.tokens = {};
    drop_unknown_client(p, error);
  }
  co_await profiles_.store(p.id, c);
  co_return error.status() == RY_OK;
}

// Drops a dynamic registration that the authorization server no longer knows; the next consent registers again.
void authorizer::drop_unknown_client(profile& p, const ry::error& error) const {
  if (error.is("mcp.oauth.unknown_client") && p.oauth && p.oauth->client_id.empty()) p.agreed.client = {};
}

// id_jag: the identity provider of the user's organization asserts that the user may use the server.
ry::task<oauth::parameters> authorizer::assertion_for(const profile& p, std::string scope) const {
  if (p.oauth->subject_token.empty())
    throw unauthenticated("the profile has no subject_token, which identifies its user");
  const auto remote = remote_for(p.account);
  ry::error error(RY_OK);
  try {
    const auto assertion = co_await remote.identity_assertion(*p.oauth, p.agreed.as.issuer, p.agreed.resource, scope);
    co_return oauth::assertion_parameters(assertion);
  } catch (const ry::error& e) {
    error = e;
  }
  if (!error.is("mcp.oauth.refused")) throw error;
  ctx_.warn("an identity provider refused the identity of a user",
            {{"profile", p.id.to_string()}, {"idp", p.oauth->idp_issuer}, {"error", error.message()}});
  throw unauthenticated(
      "the identity provider " + p.oauth->idp_issuer +
      " does not accept the profile's subject_token for this server: create the profile again with a current one");
}

// Requests a token without the user's consent: by client_credentials, for this server itself, or by id_jag.
ry::task<void> authorizer::request_own_token(profile& p, std::string scope) const {
  auto& c = p.agreed;
  c.client = configured_client(p);
  oauth::parameters parameters{{"grant_type", "client_credentials"}, {"scope", scope}, {"resource", c.resource}};
  if (p.oauth->grant_type == grant::id_jag) parameters = co_await assertion_for(p, scope);
  const auto remote = remote_for(p.account);
  c.tokens = co_await remote.request(c.as, c.client, std::move(parameters));
  if (c.tokens.scope.empty()) c.tokens.scope = scope;
  if (c.id.empty()) c.id = ctx_.new_uuid().to_string();
  co_await profiles_.store(p.id, c);
}

ry::task<void> authorizer::wait_for_lease(ry::uuid id, ry::uuid account) const {
  for (;;) {
    const bool leased = co_await profiles_.try_lease(id, lease_seconds);
    if (leased) co_return;
    (void)co_await profiles_.find(id, account);  // throws if the profile was deleted
    (co_await ctx_.sleep(lease_retry_ms)).value();
  }
}

// ---- removal ----------------------------------------------------------------------------------

ry::task<void> authorizer::remove(ry::uuid id, ry::uuid account) const {
  connection agreed;
  try {
    profile p = co_await profiles_.find(id, account);
    agreed = std::move(p.agreed);
  } catch (const ry::error& e) {
    // A profile can be removed even if its integration or its key no longer exists.
    if (e.status() == RY_NOT_FOUND) throw;
  }
  co_await profiles_.remove(id, account);
  if (agreed.has_token()) (void)ctx_.spawn(revoke_tokens(std::move(agreed), account));
}

ry::task<void> authorizer::revoke_tokens(connection c, ry::uuid account) const {
  const auto remote = remote_for(account);
  for (const auto& token : {c.tokens.refresh, c.tokens.access}) {
    try {
      co_await remote.revoke(c.as, c.client, token);
    } catch (const ry::error& e) {
      ctx_.warn("a token could not be revoked", {{"issuer", c.as.issuer}, {"error", e.message()}});
    }
  }
}

// ---- consent ----------------------------------------------------------------------------------

ry::task<std::string> authorizer::create_consent_link(ry::uuid id, ry::uuid account) const {
  profile p = co_await profiles_.find(id, account);
  if (!p.oauth || p.oauth->grant_type != grant::authorization_code) {
    throw ry::precondition("mcp.oauth", "This profile needs no consent");
  }
  if (identity_.redirect_uri.empty()) {
    throw ry::precondition("mcp.oauth", "The operator has to set http.public_url before users can connect");
  }
  const auto remote = remote_for(account);
  auto challenge = p.agreed.pending;
  if (challenge.resource_metadata.empty() && challenge.scope.empty())
    challenge = co_await remote.request_challenge(p.url);
  const oauth::discovered d = co_await remote.discover(p.url, challenge, oauth::consent::of_user, p.oauth->issuer);
  bind_to(p, d);
  auto& c = p.agreed;
  if (!p.oauth->client_id.empty()) {
    c.client = configured_client(p);
  } else if (d.as.client_documents && !identity_.client_document_url.empty()) {
    c.client = {};
    c.client.id = identity_.client_document_url;
    c.client.auth_method = "none";
    c.client.redirect_uri = identity_.redirect_uri;
  } else if (const bool uncompleted = co_await profiles_.has_pending_consent(id);
             uncompleted || c.client.id.empty() || c.client.redirect_uri != identity_.redirect_uri) {
    // A consent that was never completed may have failed because the authorization server no longer knows this client.
    c.client = co_await remote.register_client(d.as, identity_.redirect_uri);
  }
  const auto scope = oauth::scope_to_request(*p.oauth, challenge.scope, d.resource.scopes, {});
  const auto request = oauth::authorization_request(c.as, c.client, c.resource, scope);
  consent_flow flow{request.verifier, c.resource, scope, request.url, c.as, c.client};
  std::optional<std::string> ticket;
  std::string url = request.url;
  if (!identity_.confirmation_url.empty()) {
    ticket = oauth::random_text();
    url = identity_.confirmation_url + "?ticket=" + *ticket;
  }
  co_await profiles_.store_consent(id, request.state, std::move(ticket), std::move(flow), consent_seconds);
  co_return url;
}

// Drops a client registration that the authorization server rejected during a consent.
ry::task<void> authorizer::drop_client_of(const profile_store::pending_consent& consent) const {
  co_await wait_for_lease(consent.profile, consent.account);
  profile p = co_await profiles_.find(consent.profile, consent.account);
  if (p.agreed.client.id == consent.flow.client.id)
    drop_unknown_client(p, ry::unauthenticated("mcp.oauth.unknown_client", "the client is not known"));
  co_await profiles_.store(consent.profile, p.agreed);
}

ry::task<std::string> authorizer::complete_consent(authorization_response response,
                                                   profile_store::completed_by by) const {
  const auto consent = co_await profiles_.consume(response.state, std::move(by));
  const auto& as = consent.flow.as;
  // RFC 9207: a response from another server is not trusted, not even its error.
  if ((!response.issuer.empty() && response.issuer != as.issuer) || (response.issuer.empty() && as.names_issuer)) {
    throw unauthenticated("The response does not come from the authorization server of the request");
  }
  if (!response.error.empty() || response.code.empty()) {
    ctx_.warn("an authorization server refused a consent",
              {{"issuer", as.issuer}, {"oauth_error", response.error.substr(0, 100)}});
    if (response.error == "invalid_client" || response.error == "unauthorized_client") co_await drop_client_of(consent);
    throw unauthenticated(response.error == "access_denied"
                              ? "The connection was declined"
                              : "The authorization server did not agree to the connection");
  }
  connection c;
  c.id = ctx_.new_uuid().to_string();
  c.resource = consent.flow.resource;
  c.as = as;
  c.client = consent.flow.client;
  oauth::parameters parameters{{"grant_type", "authorization_code"},
                               {"code", response.code},
                               {"redirect_uri", c.client.redirect_uri},
                               {"code_verifier", consent.flow.verifier},
                               {"resource", c.resource}};
  const auto remote = remote_for(consent.account);
  ry::error error(RY_OK);
  try {
    c.tokens = co_await remote.request(as, c.client, std::move(parameters));
  } catch (const ry::error& failure) {
    error = failure;
  }
  if (error.is("mcp.oauth.unknown_client")) co_await drop_client_of(consent);
  if (error.status() != RY_OK) throw error;
  if (c.tokens.scope.empty()) c.tokens.scope = consent.flow.scope;
  // Without the lease, a concurrent renewal could overwrite the new tokens with the old ones.
  co_await wait_for_lease(consent.profile, consent.account);
  co_await profiles_.store(consent.profile, c);
  const profile p = co_await profiles_.find(consent.profile, consent.account);
  co_return p.display_name;
}

}  // namespace mcp_prebuilt

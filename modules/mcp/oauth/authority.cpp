#include "authority.hpp"

#include "endpoint.hpp"

namespace mcp::oauth {
namespace {

constexpr std::uint64_t exchange_ms = 10'000;
constexpr std::uint64_t connect_ms = 5'000;
constexpr std::uint64_t max_bytes = 256 * 1024;

ry::client_request with_limits(ry::client_request r) {
  r.connect_timeout(connect_ms).idle_timeout(exchange_ms).total_timeout(exchange_ms);
  r.max_response(max_bytes).header("Accept", "application/json");
  // Credentials of different accounts must never share a connection.
  r.flags(RY_CLIENT_FRESH_CONNECTION);
  return r;
}

}  // namespace

ry::task<ry::client_response> authority::send(ry::client_request r, std::string url) const {
  r.account(account_);
  auto response = co_await ctx_.http_client().fetch(with_limits(std::move(r)));
  if (response) co_return std::move(*response);
  const auto& e = response.error();
  if (e.status() == RY_CANCELLED) throw e;
  if (e.is("http_client.address_refused")) {
    throw ry::forbidden("mcp.oauth", url + " points to a private or local address");
  }
  throw ry::error(RY_UNAVAILABLE, "mcp.oauth", url + " could not be reached")
      .with_detail("{\"cause\":" + ry::json_string(e.message()) + "}");
}

// The body of a successful response; nullopt for a 4xx response.
ry::task<std::optional<std::string>> authority::read(std::string url) const {
  ry::client_request r("GET", url);
  r.flags(RY_CLIENT_FOLLOW_REDIRECTS);
  ry::client_response response = co_await send(std::move(r), url);
  if (response.status == 200) co_return std::move(response.body);
  if (response.status / 100 == 4 && response.status != 429) co_return std::nullopt;
  throw ry::error(RY_UNAVAILABLE, "mcp.oauth", url + " answered with HTTP status " + std::to_string(response.status));
}

// Returns the first metadata document found at `urls`; nullopt, with the reason in `problem`, if there is none. After a
// failed request the next URL is tried. Without any document the failure is thrown, because it may be temporary.
ry::task<std::optional<std::string>> authority::first_document(std::vector<std::string> urls, document kind,
                                                               std::string& problem) const {
  ry::error failure(RY_OK);
  for (const auto& url : urls) {
    std::optional<std::string> body;
    try {
      body = co_await read(url);
    } catch (const ry::error& e) {
      if (e.status() != RY_UNAVAILABLE) throw;
      failure = e;
    }
    if (!body) continue;
    const auto mismatch = document_problem(*body, kind);
    if (mismatch.empty()) co_return body;
    problem = url + " " + mismatch;
  }
  if (failure.status() != RY_OK) throw failure;
  co_return std::nullopt;
}

ry::task<discovered> authority::discover(std::string server_url, challenge from_server, consent required,
                                         std::string pinned) const {
  auto urls = resource_metadata_urls(server_url);
  const auto& named = from_server.resource_metadata;
  if (!named.empty()) {
    if (!is_usable_url(named, allowed_)) {
      throw ry::error(RY_DATA_LOSS, "mcp.oauth", "it names an address of its metadata that is not usable");
    }
    std::erase(urls, named);
    urls.insert(urls.begin(), named);
  }
  discovered d;
  std::string problem;
  const std::optional<std::string> of_resource = co_await first_document(urls, document::resource, problem);
  if (of_resource) {
    d.resource = read_resource_metadata(*of_resource, server_url, allowed_);
  } else if (!named.empty()) {
    throw ry::error(RY_DATA_LOSS, "mcp.oauth", "it names metadata that does not exist: " + named);
  } else {
    // Before RFC 9728, a server was its own authorization server.
    d.resource.resource = resource_of(server_url);
    d.resource.authorization_server = origin_of(server_url);
  }
  const auto issuer = d.resource.authorization_server;
  const std::optional<std::string> of_server =
      co_await first_document(server_metadata_urls(issuer), document::server, problem);
  if (of_server) {
    d.as = read_server_metadata(*of_server, issuer, allowed_, required, pinned);
    co_return std::move(d);
  }
  if (of_resource) {
    throw ry::error(
        RY_DATA_LOSS, "mcp.oauth",
        "the authorization server " + issuer + " has no metadata" + (problem.empty() ? "" : ": " + problem));
  }
  // Revision 2025-03-26: without metadata, the endpoints are at default paths.
  d.as = default_metadata(issuer);
  d.by_default = true;
  if (!is_usable_url(d.as.token_endpoint, allowed_)) {
    throw ry::error(RY_DATA_LOSS, "mcp.oauth",
                    "the authorization server " + issuer + " has no metadata and does not use https");
  }
  co_return std::move(d);
}

ry::task<challenge> authority::request_challenge(std::string server_url) const {
  // `ping` has no side effects in any revision.
  ry::client_request r("POST", server_url);
  r.body(R"({"jsonrpc":"2.0","id":1,"method":"ping"})", "application/json");
  ry::client_response response = co_await send(std::move(r), server_url);
  if (response.status != 401) co_return challenge();
  co_return read_challenge(mcp_transport::fields_of(response.fields, "www-authenticate")).value_or(challenge());
}

ry::task<client> authority::register_client(server_metadata as, std::string redirect_uri) const {
  if (as.registration_endpoint.empty()) {
    throw ry::precondition(
        "mcp.oauth", "the authorization server " + as.issuer + " does not register clients: a client_id is required");
  }
  auto metadata = client_metadata(redirect_uri);
  client offered;
  offered.secret = "any";
  metadata["token_endpoint_auth_method"] = auth_method(offered, as.auth_methods);
  ry::client_request r("POST", as.registration_endpoint);
  r.body(json::serialize(metadata), "application/json");
  ry::client_response response = co_await send(std::move(r), as.registration_endpoint);
  co_return read_registration(response.status, response.body, as.registration_endpoint, redirect_uri);
}

ry::client_request authority::form_post(const std::string& url, const server_metadata& as, const client& c,
                                        parameters p) const {
  auto form = token_request(as, c, std::move(p), ctx_.now_unix_us());
  ry::client_request r("POST", url);
  for (auto& [name, value] : form.fields) r.header(name, value);
  r.body(std::move(form.body), "application/x-www-form-urlencoded");
  return r;
}

ry::task<void> authority::revoke(server_metadata as, client c, std::string token) const {
  if (as.revocation_endpoint.empty() || token.empty()) co_return;
  parameters p{{"token", token}};
  (void)co_await send(form_post(as.revocation_endpoint, as, c, std::move(p)), as.revocation_endpoint);
}

ry::task<std::string> authority::identity_assertion(settings s, std::string issuer, std::string resource,
                                                    std::string scope) const {
  if (!is_usable_url(s.idp_issuer, allowed_)) {
    throw ry::error(RY_INVALID_ARGUMENT, "mcp.oauth", "the profile's idp_issuer is not a usable https address");
  }
  std::string problem;
  const std::optional<std::string> text =
      co_await first_document(server_metadata_urls(s.idp_issuer), document::server, problem);
  if (!text) {
    throw ry::error(
        RY_DATA_LOSS, "mcp.oauth",
        "the identity provider " + s.idp_issuer + " has no metadata" + (problem.empty() ? "" : ": " + problem));
  }
  const auto idp = read_server_metadata(*text, s.idp_issuer, allowed_, consent::none);
  client at_idp;
  at_idp.id = s.idp_client_id;
  at_idp.secret = s.idp_client_secret;
  ry::client_response response = co_await send(
      form_post(idp.token_endpoint, idp, at_idp, exchange_parameters(s, issuer, resource, scope)), idp.token_endpoint);
  co_return read_assertion(response.status, response.body, idp.token_endpoint);
}

ry::task<tokens> authority::request(server_metadata as, client c, parameters p) const {
  ry::client_response response = co_await send(form_post(as.token_endpoint, as, c, p), as.token_endpoint);
  if (rejects_resource(response.status, response.body)) {
    std::erase_if(p, [](const auto& each) { return each.first == "resource"; });
    response = co_await send(form_post(as.token_endpoint, as, c, std::move(p)), as.token_endpoint);
  }
  co_return read_tokens(response.status, response.body, as.token_endpoint, ctx_.now_unix_us());
}

}  // namespace mcp::oauth

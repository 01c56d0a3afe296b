// The OAuth client: its identity at an authorization server, the requests that it sends and the responses that it
// parses. Without I/O.
//
// Errors: ry::error "mcp.oauth"; "mcp.oauth.refused" (RY_UNAUTHENTICATED) if a grant is invalid or no longer valid;
// "mcp.oauth.unknown_client" (RY_UNAUTHENTICATED) if the client is unknown. They contain no secrets.
#pragma once

#include <optional>

#include "metadata.hpp"

namespace mcp::oauth {

// OAuth settings that an operator or an account chose for a server: the member `oauth` of an integration or a profile.
struct settings {
  enum class grant { authorization_code, client_credentials, id_jag };
  grant grant_type = grant::authorization_code;
  std::string client_id, client_secret;
  std::string private_key, key_id;  // PEM
  std::string auth_method;  // at the token endpoint; empty: detected from its metadata
  std::string scope;  // overrides the scope that the server requests
  std::string issuer;  // the only authorization server that may be used; empty: the one named by the server

  // Only for id_jag (Identity Assertion Authorization Grant): the identity provider of the user's organization, this
  // client's registration there, and the user's identity.
  std::string idp_issuer, idp_client_id, idp_client_secret;
  std::string subject_token, subject_token_type;  // a URN
};
// Throws ry::error RY_INVALID_ARGUMENT that names the field with the prefix `path`.
settings read_settings(const json::object& o, const std::string& path);

// The client as registered with one issuer.
struct client {
  std::string id, secret, private_key, key_id, auth_method, redirect_uri;
};
json::object to_json(const client& c);
client client_from(const json::object& o);

struct tokens {
  std::string access, refresh, scope;
  std::int64_t expires_us = 0;  // 0: not given
};
json::object to_json(const tokens& t);
tokens tokens_from(const json::object& o);

// The authentication method for the token endpoint: the configured one, else the best that both sides support.
std::string auth_method(const client& c, const std::vector<std::string>& offered);

// A form body and its headers.
struct form {
  std::string body;
  ry::headers fields;
};
using parameters = std::vector<std::pair<std::string, std::string>>;  // empty values are omitted
form token_request(const server_metadata& as, const client& c, parameters p, std::int64_t now_us);
tokens read_tokens(std::uint32_t http_status, std::string_view body, std::string_view token_endpoint,
                   std::int64_t now_us);

// Enterprise-managed authorization: exchanges the user's identity for an assertion that the authorization server with
// this issuer accepts (RFC 8693), then requests a token with the assertion (RFC 7523).
parameters exchange_parameters(const settings& s, std::string_view issuer, std::string_view resource,
                               std::string_view scope);
std::string read_assertion(std::uint32_t http_status, std::string_view body, std::string_view token_endpoint);
parameters assertion_parameters(std::string_view assertion);

// Whether the token endpoint rejected the parameter `resource` (RFC 8707: invalid_target).
bool rejects_resource(std::uint32_t http_status, std::string_view body);
// Whether this failure means that the refresh token is invalid: a permanent OAuth error.
bool invalidates_refresh_token(const ry::error& e);

// The metadata for dynamic registration and for the client metadata document.
json::object client_metadata(std::string_view redirect_uri);
client read_registration(std::uint32_t http_status, std::string_view body, std::string_view endpoint,
                         std::string_view redirect_uri);

// The scope to request: the configured one, else the one in the challenge, else all supported scopes; plus the scopes
// granted before.
std::string scope_to_request(const settings& s, std::string_view challenged, std::string_view offered,
                             std::string_view granted);

struct authorization {
  std::string url, state, verifier;
};
// Every server accepts a request line of this length in bytes. A longer URL for the user is a ry::error.
constexpr std::size_t max_user_url = 8000;
authorization authorization_request(const server_metadata& as, const client& c, std::string_view resource,
                                    std::string_view scope);

}  // namespace mcp::oauth

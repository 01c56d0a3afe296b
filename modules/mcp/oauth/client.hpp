// Who this server is to an authorization server, what it asks there and what it is told. Without I/O.
//
// Errors: ry::error "mcp.oauth", "mcp.oauth.refused" (RY_UNAUTHENTICATED) when a grant is not, or not any more, valid, and
// "mcp.oauth.unknown_client" (RY_UNAUTHENTICATED) when the client is not. None of them holds a secret.
#pragma once

#include <optional>

#include "metadata.hpp"

namespace mcp::oauth {

// What an operator or an account decided about a server; `oauth` of an integration or a profile.
struct settings {
  enum class grant { authorization_code, client_credentials, id_jag };
  grant by = grant::authorization_code;
  std::string client_id, client_secret;
  std::string private_key, key_id;  // PEM
  std::string auth_method;          // of the token endpoint; empty: as it says
  std::string scope;                // instead of what the server asks for
  std::string issuer;               // the only authorization server that may be used; empty: the server's

  // Of id_jag, an Identity Assertion Authorization Grant: the identity provider of the user's organization, this client
  // there, and the user's identity.
  std::string idp_issuer, idp_client_id, idp_client_secret;
  std::string subject_token, subject_token_type;  // a URN
};
// Throws ry::error RY_INVALID_ARGUMENT that names the field under `place`.
settings read_settings(const json::object& o, const std::string& place);

// As it is known to one issuer.
struct client {
  std::string id, secret, private_key, key_id, auth_method, redirect_uri;
};
json::object to_json(const client& c);
client client_from(const json::object& o);

struct tokens {
  std::string access, refresh, scope;
  std::int64_t expires_us = 0;  // 0: not said
};
json::object to_json(const tokens& t);
tokens tokens_from(const json::object& o);

// How a client proves itself to a token endpoint: what was decided, else the best of what both can.
std::string auth_method(const client& c, const std::vector<std::string>& offered);

// The body of a form, and the header that goes with it.
struct form {
  std::string body;
  ry::headers fields;
};
using parameters = std::vector<std::pair<std::string, std::string>>;  // empty values are left out
form token_request(const server_metadata& as, const client& c, parameters p, std::int64_t now_us);
tokens read_tokens(std::uint32_t http_status, std::string_view body, std::string_view token_endpoint,
                   std::int64_t now_us);

// Of enterprise-managed authorization: the exchange of the user's identity for an assertion that the authorization server
// with that issuer takes (RFC 8693), and the request of a token for it (RFC 7523).
parameters exchange_parameters(const settings& s, std::string_view issuer, std::string_view resource, std::string_view scope);
std::string read_assertion(std::uint32_t http_status, std::string_view body, std::string_view token_endpoint);
parameters assertion_parameters(std::string_view assertion);

// Whether an answer of the token endpoint refuses the parameter `resource` (RFC 8707: invalid_target).
bool refuses_resource(std::uint32_t http_status, std::string_view body);
// Whether a refresh token is void after this failure of its use: a refusal by an OAuth error that does not pass by itself.
bool voids_refresh(const ry::error& e);

// Dynamic registration, and the same facts as a document behind an address.
json::object client_metadata(std::string_view redirect_uri);
client read_registration(std::uint32_t http_status, std::string_view body, std::string_view endpoint,
                         std::string_view redirect_uri);

// What to ask for: decided, challenged for, or offered; with what was granted before.
std::string wanted_scope(const settings& s, std::string_view challenged, std::string_view offered,
                         std::string_view granted);

struct authorization {
  std::string url, state, verifier;
};
// What every server takes in a request line, in bytes; an address for a user that is longer is refused: ry::error.
constexpr std::size_t most_user_url = 8000;
authorization authorization_request(const server_metadata& as, const client& c, std::string_view resource,
                                    std::string_view scope);

}  // namespace mcp::oauth

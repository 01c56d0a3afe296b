// Metadata documents of servers and authorization servers (RFC 9728, RFC 8414, OpenID Connect discovery): their URLs
// and their validation. Without I/O.
//
// Errors: ry::error "mcp.oauth" with a message that names the URL.
#pragma once

#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rpc.hpp"

namespace mcp::oauth {

// URLs to which secrets may be sent: https, and in local mode also http.
enum class schemes { https_only, http_too };

// Whether a URL is absolute, has an allowed scheme and a host, and has no user information or fragment.
bool is_usable_url(std::string_view url, schemes allowed);

struct resource_metadata {
  std::string resource;
  std::string authorization_server;  // the first in the list
  std::string scopes;
};

struct server_metadata {
  std::string issuer;  // as given in the metadata
  std::string authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint;
  std::vector<std::string> auth_methods;  // of the token endpoint; empty: not given
  std::string scopes;
  bool client_documents = false;  // accepts a URL as client_id
  bool names_issuer = false;  // authorization responses contain `iss`
};

// The URLs to query, in order.
std::vector<std::string> resource_metadata_urls(std::string_view server_url);
std::vector<std::string> server_metadata_urls(std::string_view issuer);

// Metadata for this server: its resource must be the server's URL or a parent of it.
resource_metadata read_resource_metadata(std::string_view body, std::string_view server_url, schemes allowed);
// Metadata of this issuer; requires PKCE with S256 if users must consent. `pinned`: the issuer that the profile or
// integration trusts; the metadata may name it instead of the queried one. Empty: only the queried issuer is allowed.
enum class consent { of_user, none };
server_metadata read_server_metadata(std::string_view body, std::string_view issuer, schemes allowed, consent required,
                                     std::string_view pinned = {});
// The default endpoints of revision 2025-03-26 for an authorization server without metadata: /authorize, /token and
// /register.
server_metadata default_metadata(std::string_view issuer);

// Why a body is not a metadata document (some servers return a web page for every path); empty: it is one.
enum class document { resource, server };
std::string document_problem(std::string_view body, document kind);

// Whether two issuers are equal (RFC 3986: an empty path equals "/").
bool same_issuer(std::string_view a, std::string_view b);
// Whether a URL has the same scheme as the issuer and is on its host or on a subdomain.
bool on_host_of(std::string_view url, std::string_view issuer);

// The server's URL as a resource indicator (RFC 8707): without fragment.
std::string resource_of(std::string_view server_url);
std::string origin_of(std::string_view url);

json::object to_json(const server_metadata& m);
server_metadata server_metadata_from(const json::object& o);

}  // namespace mcp::oauth

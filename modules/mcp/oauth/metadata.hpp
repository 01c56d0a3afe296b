// Where servers describe how they are authorized (RFC 9728, RFC 8414, OpenID Connect discovery), and what
// of it is believed. Without I/O.
//
// Errors: ry::error with "mcp.oauth" and a sentence that names the address.
#pragma once

#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rpc.hpp"

namespace mcp::oauth {

// Addresses that secrets are sent to: https, or http as well where the operator runs everything locally.
enum class schemes { https_only, http_too };

// A usable address: absolute, of an allowed scheme, with a host, without user information and fragment.
bool usable(std::string_view url, schemes allowed);

struct resource_metadata {
  std::string resource;
  std::string authorization_server;  // the first one
  std::string scopes;
};

struct server_metadata {
  std::string issuer;  // as the metadata say
  std::string authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint;
  std::vector<std::string> auth_methods;  // of the token endpoint; empty: not said
  std::string scopes;
  bool client_documents = false;  // takes an address as client_id
  bool names_issuer = false;      // answers of the authorization endpoint carry `iss`
};

// In the order in which they are asked.
std::vector<std::string> resource_metadata_urls(std::string_view server_url);
std::vector<std::string> server_metadata_urls(std::string_view issuer);

// The metadata of that server: its resource must be the server's address or lie above it.
resource_metadata read_resource_metadata(std::string_view text, std::string_view server_url,
                                         schemes allowed);
// The metadata of that issuer, with PKCE S256 when users are to consent.
// `pinned`: the issuer that the profile or the integration trusts; metadata of the issuer that was asked may name that one
// instead (empty: only the one that was asked).
enum class consent { of_user, none };
server_metadata read_server_metadata(std::string_view text, std::string_view issuer, schemes allowed,
                                     consent wanted, std::string_view pinned = {});
// Of an authorization server of revision 2025-03-26 that publishes no metadata: /authorize, /token and /register.
server_metadata default_metadata(std::string_view issuer);

// Why a body is no metadata document at all, as pages that answer every path are not; empty: it is one.
enum class document { resource, server };
std::string no_document(std::string_view body, document wanted);

// Whether two issuers are one (RFC 3986: an empty path is the path "/").
bool same_issuer(std::string_view a, std::string_view b);
// Whether an address is on the host of the issuer or on one below it, with the same scheme.
bool on_host_of(std::string_view url, std::string_view issuer);

// The server's address as a resource (RFC 8707): without fragment.
std::string resource_of(std::string_view server_url);
std::string origin_of(std::string_view url);

json::object to_json(const server_metadata& m);
server_metadata server_metadata_from(const json::object& o);

}  // namespace mcp::oauth

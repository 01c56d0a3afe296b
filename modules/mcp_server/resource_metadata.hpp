// OAuth 2.0 Protected Resource Metadata (RFC 9728) of the MCP endpoint, and the challenge that refers to it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mcp_server {

inline constexpr std::string_view mcp_path = "/mcp";  // the agents of the account
inline constexpr std::string_view servers_path = "/mcp/servers";  // the operator's MCP servers
inline constexpr std::string_view well_known_path = "/.well-known/oauth-protected-resource";

struct public_address {
  std::string origin;  // "https://runs.example.org"
  std::string base_path;  // http.base_path, such as "/base", or empty
  std::string_view path = mcp_path;  // of the endpoint
  std::string resource() const { return origin + base_path + std::string(path); }
  std::string metadata_url() const { return origin + std::string(well_known_path) + base_path + std::string(path); }
};

// public_url: http.public_url; empty: the address that the client used.
public_address address_of(std::string_view public_url, std::string_view base_path, std::string_view host);

std::string resource_metadata(const public_address& at, const std::vector<std::string>& authorization_servers,
                              std::string_view product);
// The value of WWW-Authenticate. had_token: the request had a token, which is not valid.
std::string challenge(const public_address& at, bool had_token);

}  // namespace mcp_server

// The OAuth agreement of a profile with an authorization server, and a pending user consent, in their stored (sealed)
// form. Without I/O.
#pragma once

#include "challenge.hpp"
#include "client.hpp"

namespace mcp_prebuilt {

namespace json = boost::json;
namespace oauth = mcp::oauth;

struct connection {
  std::string id;  // new for each consent, because another user may have consented
  std::string resource;  // as sent to the authorization server
  oauth::server_metadata as;
  oauth::client client;
  oauth::tokens tokens;
  oauth::challenge pending;  // requested by the server, without the user's consent so far

  bool has_token() const noexcept { return !tokens.access.empty(); }
};
std::string to_text(const connection& c);
connection connection_from(std::string_view text);

struct consent_flow {
  std::string verifier, resource, scope;
  std::string url;  // the authorization request
  oauth::server_metadata as;
  oauth::client client;
};
std::string to_text(const consent_flow& f);
consent_flow consent_flow_from(std::string_view text);

}  // namespace mcp_prebuilt

// What was agreed with an authorization server for one profile, and a user's consent that is under way; as
// they are kept, sealed. Without I/O.
#pragma once

#include "challenge.hpp"
#include "client.hpp"

namespace mcp_prebuilt {

namespace json = boost::json;
namespace oauth = mcp::oauth;

struct connection {
  std::string id;        // new with each consent: another user may stand behind it
  std::string resource;  // as it is named to the authorization server
  oauth::server_metadata as;
  oauth::client who;
  oauth::tokens tokens;
  oauth::challenge wanted;  // what the server asked for and nobody has agreed to yet

  bool has_token() const noexcept { return !tokens.access.empty(); }
};
std::string to_text(const connection& c);
connection connection_from(std::string_view text);

struct consent_flow {
  std::string verifier, resource, scope;
  std::string url;  // of the authorization request
  oauth::server_metadata as;
  oauth::client who;
};
std::string to_text(const consent_flow& f);
consent_flow consent_flow_from(std::string_view text);

}  // namespace mcp_prebuilt

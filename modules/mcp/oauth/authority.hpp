// The conversation with authorization servers: discovery, registration, tokens. Every request goes through
// the host's address guard, whoever named the address, and has limits of its own on time and size.
//
// Errors: ry::error "mcp.oauth", "mcp.oauth.refused" as in client.hpp; nothing of what was sent or received
// as a secret stands in them. On the executor of the chain.
#pragma once

#include <ry/ry.hpp>

#include "challenge.hpp"
#include "client.hpp"

namespace mcp::oauth {

// What discovery found about one server.
struct discovered {
  resource_metadata resource;
  server_metadata as;
  bool by_default = false;  // it has no metadata: the default endpoints of revision 2025-03-26
};

class authority {
 public:
  // `account`: the account that the requests are made for. Must outlive the tasks.
  authority(const ry::context& ctx, schemes allowed, std::string account)
      : ctx_(ctx), allowed_(allowed), account_(std::move(account)) {}

  // `said`: the server's own challenge, if there was one. `pinned`: as in metadata.hpp.
  ry::task<discovered> discover(std::string server_url, challenge said, consent wanted,
                                std::string pinned = {}) const;
  // The challenge of a server that nobody has asked yet; an empty one when it makes none.
  ry::task<challenge> provoke(std::string server_url) const;
  ry::task<client> enlist(server_metadata as, std::string redirect_uri) const;
  // Once more without `resource` where the server refuses that (invalid_target), as Entra ID does beside `scope`.
  ry::task<tokens> request(server_metadata as, client c, parameters p) const;
  // What the identity provider of these settings gives for the user's identity, for that authorization server and resource.
  ry::task<std::string> identity_assertion(settings s, std::string issuer, std::string resource, std::string scope) const;
  // Tells the server that a token is not wanted any more (RFC 7009), where it takes that.
  ry::task<void> revoke(server_metadata as, client c, std::string token) const;

 private:
  ry::client_request form_post(const std::string& url, const server_metadata& as, const client& c,
                               parameters p) const;
  ry::task<ry::client_response> send(ry::client_request r, std::string what) const;
  ry::task<std::optional<std::string>> read(std::string url) const;
  ry::task<std::optional<std::string>> first_document(std::vector<std::string> places, document wanted,
                                                      std::string& why) const;

  const ry::context& ctx_;
  const schemes allowed_;
  const std::string account_;
};

}  // namespace mcp::oauth

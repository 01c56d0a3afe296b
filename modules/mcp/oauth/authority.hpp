// Requests to authorization servers: discovery, registration, tokens. Every request passes the host's address guard,
// regardless of the source of the address, and has its own limits on time and size.
//
// Errors: ry::error "mcp.oauth" and "mcp.oauth.refused" as in client.hpp; they never contain secrets that were sent or
// received. Runs on the executor of the coroutine chain.
#pragma once

#include <ry/ry.hpp>

#include "challenge.hpp"
#include "client.hpp"

namespace mcp::oauth {

// The result of discovery for one server.
struct discovered {
  resource_metadata resource;
  server_metadata as;
  bool by_default = false;  // there is no metadata: the default endpoints of revision 2025-03-26 apply
};

class authority {
 public:
  // `account`: the account for which the requests are made. Must outlive the tasks.
  authority(const ry::context& ctx, schemes allowed, std::string account)
      : ctx_(ctx), allowed_(allowed), account_(std::move(account)) {}

  // `from_server`: the server's challenge, if it sent one. `pinned`: as in metadata.hpp.
  ry::task<discovered> discover(std::string server_url, challenge from_server, consent required,
                                std::string pinned = {}) const;
  // Requests the challenge of a server that has not been contacted yet; empty if it sends none.
  ry::task<challenge> request_challenge(std::string server_url) const;
  // Registers a client dynamically (RFC 7591).
  ry::task<client> register_client(server_metadata as, std::string redirect_uri) const;
  // Requests tokens. Retries once without `resource` if the server rejects it (invalid_target), as Entra ID does
  // together with `scope`.
  ry::task<tokens> request(server_metadata as, client c, parameters p) const;
  // Gets an assertion of the user's identity from the identity provider in `s`, for this authorization server and
  // resource.
  ry::task<std::string> identity_assertion(settings s, std::string issuer, std::string resource,
                                           std::string scope) const;
  // Revokes a token (RFC 7009), if the server supports revocation.
  ry::task<void> revoke(server_metadata as, client c, std::string token) const;

 private:
  ry::client_request form_post(const std::string& url, const server_metadata& as, const client& c, parameters p) const;
  ry::task<ry::client_response> send(ry::client_request r, std::string url) const;
  ry::task<std::optional<std::string>> read(std::string url) const;
  ry::task<std::optional<std::string>> first_document(std::vector<std::string> urls, document kind,
                                                      std::string& problem) const;

  const ry::context& ctx_;
  const schemes allowed_;
  const std::string account_;
};

}  // namespace mcp::oauth

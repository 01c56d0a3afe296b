// Manages the OAuth tokens of profiles: renews them, requests more scope, and leads users through consent. Any thread;
// tasks run on the executor of their coroutine chain.
//
// Renewals of a profile are single-flight across all nodes; concurrent callers use the result. Errors:
// ry::error RY_UNAUTHENTICATED with an explanation if a user must consent; else as in authority.hpp.
#pragma once

#include <ry/cpp/mcp.hpp>

#include "authority.hpp"
#include "profiles.hpp"

namespace mcp_prebuilt {

// How this server identifies itself to authorization servers.
struct client_identity {
  std::string redirect_uri;  // empty: users cannot consent
  std::string client_document_url;  // empty: none
  std::string confirmation_url;  // page on which users confirm; empty: the operator's own page completes the consent
};

class authorizer {
 public:
  authorizer(const ry::context& ctx, const profile_store& profiles, oauth::schemes allowed, client_identity identity)
      : ctx_(ctx), profiles_(profiles), allowed_(allowed), identity_(std::move(identity)) {}

  // The server of the profile with its current credentials. Sends no requests.
  ry::mcp::resolved resolve(const profile& p) const;
  // Likewise, with renewed credentials: after the server rejected them, or before their use if they have expired. The
  // renewal continues if the caller is cancelled, because a token that was issued must not be lost.
  ry::task<ry::mcp::resolved> renew(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const;

  // A link on which the profile's user confirms and consents; valid for ten minutes and for one use.
  ry::task<std::string> create_consent_link(ry::uuid id, ry::uuid account) const;
  struct authorization_response {
    std::string state, code, issuer, error;
  };
  // The authorization server's response, sent by the account that requested the link or by the browser that
  // confirmed it. Returns the display name of the profile.
  ry::task<std::string> complete_consent(authorization_response response, profile_store::completed_by by) const;

  // Removes the profile. Its tokens are revoked in the background.
  ry::task<void> remove(ry::uuid id, ry::uuid account) const;

  const client_identity& identity() const noexcept { return identity_; }

 private:
  struct renewal;
  ry::task<void> run(std::shared_ptr<renewal> r) const;
  ry::task<ry::mcp::resolved> renew_once(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const;
  ry::task<ry::mcp::resolved> renew_leased(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const;
  ry::task<void> revoke_tokens(connection c, ry::uuid account) const;
  oauth::authority remote_for(ry::uuid account) const { return {ctx_, allowed_, account.to_string()}; }
  ry::task<bool> refresh(profile& p) const;
  ry::task<void> request_own_token(profile& p, std::string scope) const;
  ry::task<oauth::parameters> assertion_for(const profile& p, std::string scope) const;
  ry::task<void> wait_for_lease(ry::uuid id, ry::uuid account) const;
  void drop_unknown_client(profile& p, const ry::error& error) const;
  ry::task<void> drop_client_of(const profile_store::pending_consent& consent) const;
  oauth::client configured_client(const profile& p) const;
  void bind_to(profile& p, const oauth::discovered& d) const;
  bool is_expired(const profile& p) const;

  const ry::context& ctx_;
  const profile_store& profiles_;
  const oauth::schemes allowed_;
  const client_identity identity_;
};

}  // namespace mcp_prebuilt

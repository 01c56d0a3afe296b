// Manages the OAuth tokens of profiles: renews them, requests more scope, and leads users through consent. Any thread;
// tasks run on the executor of their chain.
//
// Renewals of a profile are single-flight over all nodes of one database; concurrent callers use the result. Errors:
// ry::error RY_UNAUTHENTICATED with an explanation if a user must consent; else as in authority.hpp.
#pragma once

#include <ry/cpp/mcp.hpp>

#include "authority.hpp"
#include "profiles.hpp"

namespace mcp_prebuilt {

// How this server identifies itself to authorization servers.
struct presence {
  std::string redirect_uri;  // empty: users cannot consent
  std::string client_document_url;  // empty: none
  std::string confirmation_url;  // page on which users confirm; empty: the operator's own page completes the consent
};

class authorizer {
 public:
  authorizer(const ry::context& ctx, const profile_store& profiles, oauth::schemes allowed, presence p)
      : ctx_(ctx), profiles_(profiles), allowed_(allowed), presence_(std::move(p)) {}

  // The server for the profile with its current credentials. Makes no requests.
  ry::mcp::resolved named(const profile& p) const;
  // The same after the server refused it, or before its first use if it has expired. The renewal continues when the
  // caller is cancelled, because a token that was issued must not be lost.
  ry::task<ry::mcp::resolved> renewed(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const;

  // A link on which the profile's user confirms and consents; valid for ten minutes and for one use.
  ry::task<std::string> link(ry::uuid id, ry::uuid account) const;
  struct answer {
    std::string state, code, issuer, error;
  };
  // The authorization server's response, sent by the account that requested the link or by the browser that
  // confirmed it. Returns the name of the profile.
  ry::task<std::string> conclude(answer a, profile_store::conclusion by) const;

  // Removes the profile. Its tokens are revoked in the background.
  ry::task<void> retire(ry::uuid id, ry::uuid account) const;

  const presence& shown() const noexcept { return presence_; }

 private:
  struct renewal;
  ry::task<void> run(std::shared_ptr<renewal> r) const;
  ry::task<ry::mcp::resolved> renew(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const;
  ry::task<ry::mcp::resolved> renew_taken(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const;
  ry::task<void> take_back(connection c, ry::uuid account) const;
  oauth::authority remote_for(ry::uuid account) const { return {ctx_, allowed_, account.to_string()}; }
  ry::task<bool> refresh(profile& p) const;
  ry::task<void> prove(profile& p, std::string scope) const;
  ry::task<oauth::parameters> identified(const profile& p, std::string scope) const;
  ry::task<void> take_when_free(ry::uuid id, ry::uuid account) const;
  void forget_client(profile& p, const ry::error& why) const;
  ry::task<void> forget_client_of(const profile_store::expected& e) const;
  oauth::client own_client(const profile& p) const;
  void adopt(profile& p, const oauth::discovered& d) const;
  bool expired(const profile& p) const;

  const ry::context& ctx_;
  const profile_store& profiles_;
  const oauth::schemes allowed_;
  const presence presence_;
};

}  // namespace mcp_prebuilt

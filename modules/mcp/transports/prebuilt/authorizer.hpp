// Keeps the agreements of profiles with authorization servers alive: renews tokens, asks for more scope,
// leads a user through consent. Any thread; tasks run on the executor of their chain.
//
// One renewal of a profile runs at a time, over all servers on one database; whoever comes meanwhile takes
// its outcome. Errors: ry::error RY_UNAUTHENTICATED when a user has to consent, with a sentence that says
// so; else as in authority.hpp.
#pragma once

#include <ry/cpp/mcp.hpp>

#include "authority.hpp"
#include "profiles.hpp"

namespace mcp_prebuilt {

// How this server shows itself to authorization servers.
struct presence {
  std::string redirect_uri;         // empty: users cannot consent
  std::string client_document_url;  // empty: there is none
  std::string confirmation_url;     // the page where users confirm; empty: the operator's page concludes
};

class authorizer {
 public:
  authorizer(const ry::context& ctx, const profile_store& profiles, oauth::schemes allowed, presence p)
      : ctx_(ctx), profiles_(profiles), allowed_(allowed), presence_(std::move(p)) {}

  // What stands for the profile now; asks nobody.
  ry::mcp::resolved named(const profile& p) const;
  // The same after the server refused it, or before its first use when it had expired. Goes on when the
  // caller is called off: a token that was given out must not be lost.
  ry::task<ry::mcp::resolved> renewed(ry::uuid id, ry::uuid account, ry::mcp::refusal r) const;

  // The address at which the profile's user confirms and consents; good for ten minutes, and once.
  ry::task<std::string> link(ry::uuid id, ry::uuid account) const;
  struct answer {
    std::string state, code, issuer, error;
  };
  // The authorization server's response, sent by the account that requested the link or by the browser that
  // confirmed it. Returns the name of the profile.
  ry::task<std::string> conclude(answer a, profile_store::conclusion by) const;

  // Removes the profile. Its tokens are taken back behind the caller.
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

// Storage of profiles. Secrets are sealed with the profile's id as their context. All tasks throw ry::error, which is
// RY_NOT_FOUND "mcp.profile" if the account has no such profile.
#pragma once

#include <ry/ry.hpp>

#include "connection.hpp"
#include "integrations.hpp"

namespace mcp_prebuilt {

// A profile as it is used: its server, with the account's credentials inserted.
struct profile {
  ry::uuid id, account;
  std::string display_name, url, type;
  json::object headers;
  std::optional<oauth::settings> oauth;  // nullopt: the headers are the only credentials
  connection agreed;  // empty until a token is requested
};

struct listed_profile {
  std::string id, integration, url, display_name;
  bool connected = false;
};

struct new_profile {
  ry::uuid account;
  std::string integration, url, type, display_name;
  json::object credentials;
};

ry::error no_such_profile();

class profile_store {
 public:
  profile_store(const ry::context& ctx, const integrations& offered) : ctx_(ctx), offered_(offered) {}

  ry::task<profile> find(ry::uuid id, ry::uuid account) const;
  ry::task<std::vector<listed_profile>> list(ry::uuid account) const;
  // Throws a 409 if the account has `max_profiles` profiles.
  ry::task<ry::uuid> add(new_profile p, std::int64_t max_profiles) const;
  ry::task<void> remove(ry::uuid id, ry::uuid account) const;
  // Removes all profiles of a deleted account.
  ry::task<void> remove_all(ry::uuid account) const;

  // Leases the profile until store(), release() or the end of `seconds`. Returns false if another caller holds the
  // lease.
  ry::task<bool> try_lease(ry::uuid id, std::int64_t seconds) const;
  ry::task<void> release(ry::uuid id) const;
  ry::task<void> store(ry::uuid id, connection c) const;

  // Stores a pending consent and invalidates the link of an earlier one. `ticket`: part of the link to the confirmation
  // page; nullopt if the operator has set a page to which users return.
  ry::task<void> store_consent(ry::uuid id, std::string state, std::optional<std::string> ticket, consent_flow f,
                               std::int64_t seconds) const;
  // Whether a consent was started and never completed.
  ry::task<bool> has_pending_consent(ry::uuid id) const;
  struct pending_consent {
    ry::uuid profile, account;
    consent_flow flow;
  };
  struct confirmable {
    pending_consent consent;
    std::string state_hash, display_name, url;
  };
  // The pending consent of a confirmation page. Throws RY_NOT_FOUND "mcp.consent".
  ry::task<confirmable> find_consent(std::string ticket) const;
  // After this call, only the browser with this cookie can complete the consent. Throws RY_NOT_FOUND "mcp.consent".
  ry::task<void> confirm(std::string ticket, std::string cookie) const;
  // The party that may complete a consent: the account that requested the link, or the browser that confirmed it.
  struct completed_by {
    std::optional<ry::uuid> account;
    std::string cookie;
  };
  // Consumes the consent; works once. Throws RY_NOT_FOUND "mcp.consent"; the consent of another party is kept.
  ry::task<pending_consent> consume(std::string state, completed_by by) const;

 private:
  std::string open(std::string context, std::string_view sealed) const;
  std::string seal(std::string context, std::string plaintext) const;
  void apply_integration(profile& p, const std::string& integration, const json::object& credentials) const;

  const ry::context& ctx_;
  const integrations& offered_;
};

}  // namespace mcp_prebuilt

// The caller's account, and agents of agents/1.
#pragma once

#include <ry/svc/accounts.h>
#include <ry/svc/agents.h>
#include <ry/cpp/http.hpp>
#include <ry/cpp/services.hpp>
#include <string>

namespace a2a {

struct agent_summary {
  std::string id, name, description;
  std::int32_t version = 0;
  bool is_default = false;
};

class agents {
 public:
  agents(const ry::service<ry_accounts_v1>& accounts, const ry::service<ry_agents_v1>& service)
      : accounts_(accounts), service_(service) {}

  ry::task<ry::uuid> account_of(ry::request r) const;
  // An agent of the account; throws protocol_error if the account has no agent with this id.
  ry::task<agent_summary> get(ry::uuid account, std::string id) const;
  ry::task<agent_summary> get_default(ry::uuid account) const;

 private:
  const ry::service<ry_accounts_v1>& accounts_;
  const ry::service<ry_agents_v1>& service_;
};

}  // namespace a2a

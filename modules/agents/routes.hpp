// The HTTP routes of this module.
#pragma once

#include <ry/svc/accounts.h>
#include <ry/cpp/registrar.hpp>

#include "mcp_checks.hpp"
#include "repository.hpp"

namespace agents {

// The caller's account in accounts/1.
struct owner {
  ry::uuid account_id;
  plan allowed;
};

class routes {
 public:
  // `accounts` is set before the first request.
  routes(const ry::context& ctx, const repository& repo, const ry::service<ry_accounts_v1>& accounts,
         const mcp_checks& checks)
      : ctx_(ctx), repo_(repo), accounts_(accounts), checks_(checks) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> list(ry::request r);
  ry::task<ry::response> create(ry::request r);
  ry::task<ry::response> show(ry::request r);
  ry::task<ry::response> change(ry::request r);
  ry::task<ry::response> remove(ry::request r);
  ry::task<ry::response> versions(ry::request r);

  ry::task<owner> caller(ry::request r);
  ry::task<agent_ptr> own_agent(ry::uuid account, ry::uuid id, std::int32_t version = 0);
  std::string seal(const ry::uuid& agent, std::string_view plain) const;

  const ry::context& ctx_;
  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  const mcp_checks& checks_;
};

}  // namespace agents

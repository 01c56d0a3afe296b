// The service agents/1. Versions are immutable, so they are cached.
#pragma once

#include <ry/svc/accounts.h>
#include <ry/cpp/op.hpp>
#include <ry/cpp/services.hpp>

#include <mutex>
#include <optional>
#include <unordered_map>

#include "mcp_checks.hpp"
#include "repository.hpp"

namespace agents {

class service {
 public:
  // `accounts` is set before the first call.
  service(const ry::context& ctx, const repository& repo, const ry::service<ry_accounts_v1>& accounts,
          const mcp_checks& checks)
      : ctx_(ctx), repo_(repo), accounts_(accounts), checks_(checks) {}
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  // The table of agents/1; its `self` is a service.
  static const ry_agents_v1* table() noexcept;

 private:
  struct caller {
    ry_exec* exec;
    ry_agent_fn fn;
    void* ctx;
  };
  ry_status get(ry_str account, ry_str agent, std::int32_t version, caller c);
  ry_status set_mcps(ry_str account, ry_str agent, std::int32_t expected, ry_str mcps, caller c);
  ry_status put_mcps(ry_str account, ry_str agent, std::int32_t expected, ry_str mcps, caller c);
  ry::task<void> replace_mcps(ry::uuid account, ry::uuid agent, std::int32_t expected, std::string mcps, caller c);
  ry::task<void> find_version(ry::uuid account, ry::uuid agent, std::int32_t version, caller c);
  ry::task<void> list(ry::uuid account, std::optional<ry::uuid> before, std::int64_t limit, ry_exec* exec,
                      ry_agent_list_fn fn, void* ctx);
  ry::task<plan> plan_of(ry::uuid account);
  ry::task<void> revise(ry::uuid account, ry::uuid agent, revision change, caller c);
  void respond(caller c, agent_ptr found, ry::error failure) const noexcept;
  agent_ptr cached(const std::string& key) const;
  void cache(const agent_ptr& a);

  const ry::context& ctx_;
  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  const mcp_checks& checks_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, agent_ptr> versions_;  // "<agent id>/<version>"
};

}  // namespace agents

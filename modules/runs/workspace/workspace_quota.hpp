// Size limits of an account's workspaces, by tier, and how much space is left for a command on this node.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "ry/svc/accounts.h"
#include "settings/settings.hpp"
#include "workspace/workspace_store.hpp"

namespace runs {

class workspace_quota {
 public:
  workspace_quota(const ry::context& ctx, const settings& config, const ry::service<ry_accounts_v1>& accounts,
                  const workspace_store& workspaces)
      : ctx_(ctx), config_(config), accounts_(accounts), workspaces_(workspaces) {}

  workspace_limits limits_of(std::string_view tier) const;
  // The limits of the account's current tier, or of the default tier if the account service is unavailable.
  ry::task<workspace_limits> limits(ry::uuid account) const;

  // Limits of the project's workspace during a command on this node; at least 1, so that commands can delete files.
  struct allowance {
    std::uint64_t bytes = 0, files = 0;
  };
  ry::task<ry::result<allowance>> for_command(ry::uuid account, ry::uuid project) const;
  // Records the size of the workspace on this node's disk after a command.
  ry::task<void> note(ry::uuid project, std::uint64_t bytes, std::uint64_t files) const;

 private:
  const ry::context& ctx_;
  const settings& config_;
  const ry::service<ry_accounts_v1>& accounts_;
  const workspace_store& workspaces_;
};

}  // namespace runs

#include "workspace/workspace_quota.hpp"

#include <algorithm>
#include <map>

namespace runs {
namespace {

std::uint64_t remaining(std::int64_t limit, std::int64_t used) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(limit - used, 1));
}

}  // namespace

workspace_limits workspace_quota::limits_of(std::string_view tier) const {
  return {config_.workspace_bytes, config_.workspace_files, by_tier(config_.account_workspace_bytes, tier),
          by_tier(config_.account_workspace_files, tier)};
}

ry::task<workspace_limits> workspace_quota::limits(ry::uuid account) const {
  const ry_uuid id = account;
  ry::result<std::string> tier = co_await ry::call<std::string, const ry_account_view*>(
      [&](ry_exec* exec, ry_account_fn fn, void* ctx) { return accounts_->find(accounts_.self(), &id, exec, fn, ctx); },
      [](const ry_account_view* a) { return ry::text(a->tier->name); });
  co_return limits_of(tier ? *tier : std::string());
}

ry::task<ry::result<workspace_quota::allowance>> workspace_quota::for_command(ry::uuid account,
                                                                              ry::uuid project) const {
  const workspace_limits account_limits = co_await limits(account);
  ry::result<workspace_usage> usage =
      co_await workspaces_.rows().usage(account.to_string(), project.to_string(), workspaces_.node());
  if (!usage) co_return usage.error();
  co_return allowance{remaining(account_limits.account_bytes, usage->other_bytes),
                      remaining(account_limits.account_files, usage->other_files)};
}

ry::task<void> workspace_quota::note(ry::uuid project, std::uint64_t bytes, std::uint64_t files) const {
  ry::result<void> recorded = co_await workspaces_.rows().record_size(
      project.to_string(), workspaces_.node(), static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(files));
  if (!recorded) ctx_.log_error("the size of a workspace could not be stored", recorded.error());
}

}  // namespace runs

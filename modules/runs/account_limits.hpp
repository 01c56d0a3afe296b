// Counts that accounts reached their limits. Called where a request is refused, which is rare: the handles are looked up.
//
// Thread: any.
#pragma once
#include <ry/cpp/limits.hpp>
#include <string_view>

namespace runs {

inline constexpr const char* account_limit_names[] = {"agent_runs", "threads", "workspace_bytes", "workspace_files"};

// outcome: "account_bytes" or "account_files"; others are no limits of accounts.
inline void count_workspace_limit(const ry::context& ctx, std::string_view outcome) {
  if (outcome == "account_bytes") ry::account_limit(ctx, "workspace_bytes").add();
  if (outcome == "account_files") ry::account_limit(ctx, "workspace_files").add();
}

}  // namespace runs

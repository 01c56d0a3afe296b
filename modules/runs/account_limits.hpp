// Counts how often accounts reach their limits. Called only when a request is refused, which is rare, so each call
// looks up the metric.
//
// Thread: any.
#pragma once
#include <ry/cpp/limits.hpp>
#include <string_view>

namespace runs {

inline constexpr const char* account_limit_names[] = {"agent_runs", "prompt_bytes", "threads", "workspace_bytes",
                                                      "workspace_files"};

// Counts the outcomes "account_bytes" and "account_files"; ignores all others, which are not limits of an account.
inline void count_workspace_limit(const ry::context& ctx, std::string_view outcome) {
  if (outcome == "account_bytes") ry::account_limit(ctx, "workspace_bytes").add();
  if (outcome == "account_files") ry::account_limit(ctx, "workspace_files").add();
}

}  // namespace runs

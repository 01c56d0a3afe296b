// The services of other modules that this module uses, in the form that its classes need.
#pragma once

#include <ry/svc/accounts.h>
#include <ry/svc/agents.h>

#include <optional>
#include <ry/cpp/http.hpp>
#include <ry/cpp/runs.hpp>
#include <vector>

#include "results.hpp"
#include "tool_list.hpp"

namespace mcp_server {

// A run and its final answer.
struct run_state {
  run_info run{};
  std::string text{};
};

// Lifetime: that of the module. Any thread.
class services {
 public:
  explicit services(const ry::context& ctx) : ctx_(ctx) {}
  void acquire();

  // The account of the request's principal.
  ry::task<ry::uuid> account_of(ry::request r) const;
  // The account's newest agents, at most 100, oldest first.
  ry::task<std::vector<agent_tool>> agent_tools(ry::uuid account) const;
  // Throws RY_NOT_FOUND for a run of another account.
  ry::task<run_info> run(ry::uuid account, std::string id) const;
  // nullopt instead of an error.
  ry::task<std::optional<run_info>> find_run(ry::uuid account, std::string id) const;
  // The same with the answer, which is empty while the run is in progress.
  ry::task<run_state> run_with_answer(ry::uuid account, std::string id) const;
  // The pending approvals of calls of a run, as in GET /approvals, oldest first, at most 100.
  ry::task<json::array> pending_approvals(ry::uuid account, std::string run) const;
  // Decides about an approval, unless it is decided or unknown. decision: the body of POST /approvals/{id}.
  ry::task<void> decide(ry::uuid account, ry::uuid approval, std::string decision) const;
  ry::task<void> stop(ry::uuid account, std::string id) const;
  const ry::runs::client& runs() const noexcept { return runs_; }

 private:
  ry::task<std::string> answer(ry::uuid account, run_info run) const;

  const ry::context& ctx_;
  ry::service<ry_accounts_v1> accounts_;
  ry::service<ry_agents_v1> agents_;
  ry::runs::client runs_;
};

}  // namespace mcp_server

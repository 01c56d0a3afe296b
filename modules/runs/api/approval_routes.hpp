// Calls that wait for a person or the client: GET /approvals, GET /agent-run/{id}/approvals, POST /approvals/{id},
// GET /approvals/remembered, DELETE /approvals/remembered/{id}, POST /agent-run/{id}/tool-results, and the job that ends
// expired ones.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <ry/ry.hpp>
#include <string>

#include "api/run_routes.hpp"
#include "run/run_stopper.hpp"
#include "ry/svc/accounts.h"
#include "settings/settings.hpp"
#include "store/repository.hpp"

namespace runs {

class approval_routes {
 public:
  approval_routes(const ry::context& ctx, const settings& config, const repository& repo,
                  const ry::service<ry_accounts_v1>& accounts, run_stopper& stopper)
      : ctx_(ctx), config_(config), repo_(repo), accounts_(accounts), stopper_(stopper) {}
  ry::task<ry::response> list(ry::request request);
  ry::task<ry::response> of_run(ry::request request);
  ry::task<ry::response> decide(ry::request request);
  ry::task<ry::response> remembered(ry::request request);
  ry::task<ry::response> revoke(ry::request request);
  ry::task<ry::response> tool_results(ry::request request);
  // Job: ends expired approvals.
  ry::task<ry::job_outcome> expire(ry::job job);

  // The responses of the routes for an account, as JSON; they throw the error responses of the routes.
  ry::task<std::string> list_json(std::string account, std::optional<std::string> run, query_values query) const;
  ry::task<std::string> decide_json(std::string account, std::string id, std::string body) const;
  ry::task<std::string> tool_results_json(std::string account, std::string run, std::string body) const;

  // Notifies the run's readers, the workers and the consumers of the events, after a decision or a result was stored.
  void announce(const std::string& run) const;

 private:
  const ry::context& ctx_;
  const settings& config_;
  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  run_stopper& stopper_;
};

}  // namespace runs

// The service runs/1 for other modules: see ry/svc/runs.h.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <ry/ry.hpp>
#include <string>

#include "api/approval_routes.hpp"
#include "api/event_follower.hpp"
#include "api/run_routes.hpp"
#include "api/run_starter.hpp"
#include "ry/svc/runs.h"

namespace runs {

class runs_service {
 public:
  runs_service(module_context& p, run_starter& starter, event_follower& follower, run_stopper& stopper,
               const run_routes& runs, thread_routes& threads, const approval_routes& approvals)
      : context_(p),
        starter_(starter),
        follower_(follower),
        stopper_(stopper),
        runs_(runs),
        threads_(threads),
        approvals_(approvals) {}
  static const ry_runs_v1* table();

 private:
  struct start_call;
  // Throws the error of a start with too many or too large files.
  static void check_files(const start_call& call, const ry_tier_view& tier);
  ry::task<void> start(std::unique_ptr<start_call> call);
  ry::task<std::string> stop(std::string account, std::string run);
  ry::task<std::string> list(std::string account, query_values query);
  ry::task<std::string> approvals(std::string account, query_values query);
  ry::task<std::string> models(ry::uuid account);
  ry::task<caller> find_account(ry::uuid account);
  ry::task<std::string> delete_thread(std::string account, std::string thread);
  // Calls `fn` with the result of `work`, on exec.
  ry_status answer(ry::task<std::string> work, ry_exec* exec, ry_run_json_fn fn, void* ctx);
  struct c;  // the functions of the table

  module_context& context_;
  run_starter& starter_;
  event_follower& follower_;
  run_stopper& stopper_;
  const run_routes& runs_;
  thread_routes& threads_;
  const approval_routes& approvals_;
};

}  // namespace runs

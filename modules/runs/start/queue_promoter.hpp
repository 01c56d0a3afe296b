// Queue promoter: starts waiting runs when an account's plan changes and in a periodic sweep, and stops the runs that a
// start is to interrupt. The end of a run promotes the next one elsewhere. Handles jobs and events.
//
// Thread: any. Lifetime: as long as the module; it holds a reference to the run operations.
#pragma once
#include "api/run_routes.hpp"

namespace runs {

class queue_promoter {
 public:
  queue_promoter(module_context& p, run_routes& runs) : context_(p), runs_(runs) {}

  // Job runs.admit: all accounts, by their current plans.
  ry::task<ry::job_outcome> sweep(ry::job job);
  // Event account.tier; its key is the account.
  ry::task<void> plan_changed(ry::event event);
  // Job runs.interrupt {account_id, thread_id, run_id}: ends the runs of the thread that the run waits for.
  ry::task<ry::job_outcome> interrupt(ry::job job);

 private:
  ry::task<void> admit(std::string account);

  module_context& context_;
  run_routes& runs_;
};

}  // namespace runs

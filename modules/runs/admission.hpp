// What lets waiting runs begin beside the end of another: a change of the account's plan, a sweep, and the
// stop of the runs that one is to interrupt. Handlers of jobs and events.
//
// Thread: any. Lifetime: as long as the module; it refers to the run operations.
#pragma once
#include "run_routes.hpp"

namespace runs {

class admission {
 public:
  admission(parts& p, run_routes& runs) : parts_(p), runs_(runs) {}

  // runs.admit: all accounts, by the plans that they have now.
  ry::task<ry::job_outcome> sweep(ry::job job);
  // account.tier, of the account that is its key
  ry::task<void> plan_changed(ry::event event);
  // runs.interrupt {account_id, thread_id, run_id}: ends what the run waits for on its thread.
  ry::task<ry::job_outcome> interrupt(ry::job job);

 private:
  ry::task<void> admit(std::string account);

  parts& parts_;
  run_routes& runs_;
};

}  // namespace runs

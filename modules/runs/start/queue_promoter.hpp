// Queue promoter: starts waiting runs when an account's plan changes and in a periodic sweep, and stops the runs that a
// new run interrupts. When a run ends, SQL promotes the next one, not this class. Handles jobs and events.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <ry/ry.hpp>
#include <string>

#include "run/run_stopper.hpp"
#include "ry/svc/accounts.h"
#include "store/repository.hpp"

namespace runs {

class queue_promoter {
 public:
  queue_promoter(const ry::context& ctx, const repository& repo, const ry::service<ry_accounts_v1>& accounts,
                 run_stopper& stopper)
      : ctx_(ctx), repo_(repo), accounts_(accounts), stopper_(stopper) {}

  // Job runs.admit: all accounts, by their current plans.
  ry::task<ry::job_outcome> sweep(ry::job job);
  // Event account.tier; its key is the account.
  ry::task<void> plan_changed(ry::event event);
  // Job runs.interrupt {account_id, thread_id, run_id}: stops the runs of the thread that the run waits for.
  ry::task<ry::job_outcome> interrupt(ry::job job);

 private:
  ry::task<void> admit(std::string account);

  const ry::context& ctx_;
  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  run_stopper& stopper_;
};

}  // namespace runs

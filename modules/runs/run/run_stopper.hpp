// Stops a run on any node, for requests, the deletion of threads and starts that interrupt other runs.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <ry/ry.hpp>
#include <string>

#include "run/live_run.hpp"
#include "run_metrics.hpp"
#include "settings/settings.hpp"
#include "store/repository.hpp"

namespace runs {

class run_stopper {
 public:
  run_stopper(const ry::context& ctx, const settings& config, const repository& repo, const registry& live,
              const run_metrics& metrics)
      : ctx_(ctx), config_(config), repo_(repo), live_(live), metrics_(metrics) {}

  // Stops the account's run, waits until it has ended, and returns its status. Throws a 404 if the run is unknown or
  // belongs to another account.
  ry::task<std::string> stop_run(std::string account, std::string id);

 private:
  const ry::context& ctx_;
  const settings& config_;
  const repository& repo_;
  const registry& live_;
  const run_metrics& metrics_;
};

}  // namespace runs

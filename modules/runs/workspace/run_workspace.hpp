// The workspace of a run: prepares it before a tool uses it, writes its files, and stores it after a tool changed it.
//
// Thread: the run's executor. Lifetime: as long as the module.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "run/live_run.hpp"
#include "store/repository.hpp"
#include "workspace/sandbox_drivers.hpp"
#include "workspace/workspace_quota.hpp"
#include "workspace/workspace_store.hpp"

namespace runs {

class run_workspace {
 public:
  run_workspace(const ry::context& ctx, const repository& repo, const sandbox_drivers& sandboxes,
                workspace_store& workspaces, const workspace_quota& quota)
      : ctx_(ctx), repo_(repo), sandboxes_(sandboxes), workspaces_(workspaces), quota_(quota) {}

  // Creates the project's workspace if needed, brings this node's copy to the database's version, and records the use
  // in the database; once per live run.
  ry::task<ry::result<void>> ensure(std::shared_ptr<live_run> run) const;
  // Writes a file within the limits of the run's account. RY_RESOURCE_EXHAUSTED: the account's workspaces or the disk
  // are full. `bytes` must outlive the task.
  ry::task<ry::result<void>> write(std::shared_ptr<live_run> run, std::string path, std::string_view bytes) const;
  // Stores the changes of the run's workspace in the database; retries while the database is unavailable, until the run
  // is interrupted. Sets `note` to a message for the agent if files could not be stored.
  ry::task<void> keep(std::shared_ptr<live_run> run, std::string& note) const;

 private:
  const ry::context& ctx_;
  const repository& repo_;
  const sandbox_drivers& sandboxes_;
  workspace_store& workspaces_;
  const workspace_quota& quota_;
};

}  // namespace runs

// Removes this node's copies of workspaces whose projects are deleted: immediately on the node that deletes the thread,
// within half a minute on other nodes and after a crash. Failed removals are retried every half minute. Until then the
// project counts towards the limits of its account. Only projects that the database lists as deleted are removed: a
// project that is missing from the database may belong to another database.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <ry/ry.hpp>
#include <string>

#include "workspace/sandbox_drivers.hpp"
#include "workspace/workspace_store.hpp"

namespace runs {

class workspace_sweep {
 public:
  workspace_sweep(const ry::context& ctx, const sandbox_drivers& sandboxes, workspace_store& workspaces)
      : ctx_(ctx), sandboxes_(sandboxes), workspaces_(workspaces) {}
  // [lifecycle] After start() of the workspace_store.
  void start();
  // Removes this node's copy of the project, unless the project exists (again) or is in use.
  ry::task<void> remove(std::string project);

 private:
  ry::task<void> sweep_loop();
  // Removes local copies of deleted projects, even those that the database does not list for this node.
  ry::task<void> sweep();
  // Removes the copies of deleted projects that the database lists for this node.
  ry::task<void> sweep_recorded();

  const ry::context& ctx_;
  const sandbox_drivers& sandboxes_;
  workspace_store& workspaces_;
};

}  // namespace runs

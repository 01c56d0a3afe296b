// Removes this node's copies of workspaces whose projects are deleted: at once on the node that deletes the thread, within
// half a minute on other nodes and after a crash. Failed removals are retried every half minute. Until then the project counts
// towards the limits of its account. Only projects that the database lists as deleted are removed: a project that is missing
// in the database may belong to another one.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include "parts.hpp"

namespace runs {

class workspace_sweep {
 public:
  explicit workspace_sweep(parts& p) : parts_(p) {}
  // [lifecycle] After the keeper.
  void start();
  // Unless the project is there (again) or in use.
  ry::task<void> remove(std::string project);

 private:
  ry::task<void> watch();
  ry::task<void> sweep();
  // Those that the database says this node still has.
  ry::task<void> sweep_noted();

  parts& parts_;
};

}  // namespace runs

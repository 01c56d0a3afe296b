// Removes this node's copies of workspaces whose projects are deleted: at once where a thread is deleted, within half a
// minute on the other nodes and after a crash between the two; what fails is tried again as often. Until then the project
// counts to the limits of its account. What the keeper knows of, that is, and what the
// database says was deleted: a project that it merely does not have may be one of another database.
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

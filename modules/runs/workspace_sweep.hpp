// Removes this node's copies of workspaces whose projects are deleted: at once where a thread is deleted, within ten
// minutes on the other nodes and after a crash between the two. What the keeper knows of, that is, and what the
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

  parts& parts_;
};

}  // namespace runs

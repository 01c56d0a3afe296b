// Removes the trees of a quarantine in the background, including those of an earlier process, and reports failures:
// gauge `<module>_quarantined_trees`, counter `<module>_removal_failures_total`, warnings in the log.
//
// Thread: any. Lifetime: that of the module; its tasks end with those of the module.
#pragma once
#include <atomic>
#include <ry/ry.hpp>
#include <string>

#include "quarantine.hpp"

namespace disk {

class tree_cleaner {
 public:
  // `directory`: as for quarantine.
  tree_cleaner(const ry::context& ctx, std::string directory);
  // [lifecycle] Looks for trees of an earlier process.
  void start() { wake(); }
  // Moves the tree at `path` into the quarantine, where it is removed in the background. Returns 0 or a value of errno.
  // Blocks for a short time.
  int dispose(const std::string& path, std::string_view label);
  // Like dispose(), but removes the tree before it returns, for at most `max_time`; the rest is removed in the
  // background. Also removes earlier trees with this label. Blocks.
  removal remove(const std::string& path, std::string_view label, std::chrono::milliseconds max_time);
  const std::string& directory() const { return trees_.directory(); }

 private:
  void wake();
  ry::task<void> work();
  void log_error(const quarantine::failure& of);

  const ry::context& ctx_;
  quarantine trees_;
  const ry::metric waiting_, failures_;
  std::atomic<bool> working_{false};
};

}  // namespace disk

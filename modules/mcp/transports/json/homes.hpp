// HOME directories of programs that run without a sandbox: <data_dir>/mcp/home-<process>-XXXXXX, one per program.
// start() removes the directories of earlier processes.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <string>

#include "common/tree_cleaner.hpp"

namespace mcp_json {

class homes {
 public:
  homes(const ry::context& ctx, disk::tree_cleaner& cleaner);
  // [lifecycle] Blocks for a short time.
  void start();
  std::string create(const ry::context& ctx);  // throws ry::error
  // Removes the directory: immediately if it is empty, otherwise in the background.
  void remove(const std::string& path) noexcept;

 private:
  const std::string root_, own_prefix_;
  disk::tree_cleaner& cleaner_;
};

}  // namespace mcp_json

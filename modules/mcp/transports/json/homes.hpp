// HOME directories of programs that run without a sandbox: <data_dir>/mcp/home-<process>-XXXXXX, one for each program.
// Those that a process which ended left behind are removed at the start.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <string>

#include "common/tree_cleaner.hpp"

namespace mcp_json {

class homes {
 public:
  homes(const ry::context& ctx, disk::tree_cleaner& cleaner);
  // [lifecycle] Blocks shortly.
  void start();
  std::string make(const ry::context& ctx);  // throws ry::error
  // At once, in the background unless the directory is empty.
  void remove(const std::string& path) noexcept;

 private:
  const std::string root_, own_prefix_;
  disk::tree_cleaner& cleaner_;
};

}  // namespace mcp_json

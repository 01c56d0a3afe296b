// A workspace as a whole: what is in it, and making single entries what another copy of it says.
//
// Links are never followed on the way. All functions block; any thread, also while the agent's
// commands change what is looked at.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ry/ext/sandbox_driver.h"
#include "workspace.hpp"

namespace bubblewrap {

struct tree_entry {
  std::uint32_t kind = RY_SANDBOX_GONE;  // RY_SANDBOX_*
  std::string path, target;
  std::uint64_t size = 0, inode = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  std::uint32_t mode = 0;
};

// The workspace itself first (changed_ns: its birth), a directory before what is in it. What cannot be
// reached by a path of 4000 bytes is left out. RY_RESOURCE_EXHAUSTED over max_entries.
file_error scan_tree(const workspaces& all, std::string_view project_id, std::uint64_t max_entries,
                     std::vector<tree_entry>& out);

// Makes entry.path what the entry says (kind, target, mode, modified_ns), whatever is there. A file
// takes over host_path.
file_error place_entry(const workspaces& all, std::string_view project_id, const tree_entry& entry,
                       const std::string& host_path, std::optional<uid_t> owner);

}  // namespace bubblewrap

// Synchronises whole workspaces: lists all entries, and makes single entries equal to those of another copy.
//
// Links are never followed. All functions block; any thread, even while commands change the workspace.
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
  std::uint32_t kind = RY_SANDBOX_DELETED;  // RY_SANDBOX_*
  std::string path, target;
  std::uint64_t size = 0, inode = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  std::uint32_t mode = 0;
};

// Lists the workspace itself first (changed_ns: its time of creation), and each directory before its contents. Entries
// whose path is longer than 4000 bytes are skipped. RY_RESOURCE_EXHAUSTED: there are more than max_entries.
file_error scan_tree(const workspaces& all, std::string_view project_id, std::uint64_t max_entries,
                     std::vector<tree_entry>& out);

// Creates or replaces the entry at entry.path with this kind, target, mode and modified_ns. For a file, moves
// host_path.
file_error place_entry(const workspaces& all, std::string_view project_id, const tree_entry& entry,
                       const std::string& host_path, std::optional<uid_t> owner);

}  // namespace bubblewrap

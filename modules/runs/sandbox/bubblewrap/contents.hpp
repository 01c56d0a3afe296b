// Operations on all contents of a workspace, by descriptors (common/walk_tree.hpp): size on disk, owner, nesting of
// directories. All functions block; any thread. `workspace`: descriptor of an open directory.
#pragma once
#include <sys/types.h>

#include "common/walk_tree.hpp"
#include "file_error.hpp"

namespace bubblewrap {

file_error measure(int workspace, const disk::tree_limits& limits, disk::tree_use& out);

// Makes `owner` (uid and gid) the owner of all contents, and finally of the workspace itself, so that the caller
// notices an interrupted change and repeats it.
file_error change_owner(int workspace, uid_t owner);

// Removes directories that are nested deeper than disk::max_depth, with their contents.
file_error trim_deep(int workspace, bool& trimmed);

}  // namespace bubblewrap

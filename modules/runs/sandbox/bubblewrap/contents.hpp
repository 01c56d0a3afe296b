// The whole content of a workspace, visited by descriptors (common/walk_tree.hpp): its size on disk, its owner, and the nesting
// of its directories. All functions block; any thread. `workspace`: an open directory.
#pragma once
#include <sys/types.h>

#include "common/walk_tree.hpp"
#include "workspace.hpp"

namespace bubblewrap {

file_error measure(int workspace, const disk::tree_limits& most, disk::tree_use& out);

// Makes `owner` (uid and gid) the owner of everything in it. The workspace itself comes last, so that the next call repeats an
// interrupted one.
file_error give_to(int workspace, uid_t owner);

// Removes directories that lie deeper than disk::max_depth, with everything in them.
file_error trim_deep(int workspace, bool& trimmed);

}  // namespace bubblewrap

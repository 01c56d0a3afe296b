// Everything in a workspace, met by descriptors (common/walk_tree.hpp): what it takes on disk, whose it is, and how deep
// directories may lie in each other. All functions block; any thread. `workspace`: an open directory.
#pragma once
#include <sys/types.h>

#include "common/walk_tree.hpp"
#include "workspace.hpp"

namespace bubblewrap {

file_error measure(int workspace, const disk::tree_limits& most, disk::tree_use& out);

// Makes everything in it `owner`'s, uid and gid; the workspace itself last, so that an interrupted call is repeated.
file_error give_to(int workspace, uid_t owner);

// Removes directories that lie deeper than disk::max_depth, with everything in them.
file_error trim_deep(int workspace, bool& trimmed);

}  // namespace bubblewrap

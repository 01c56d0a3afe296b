// Operations on the whole content of a workspace, by descriptors (common/walk_tree.hpp): size on disk, owner, nesting
// of directories. All functions block; any thread. `workspace`: an open directory.
#pragma once
#include <sys/types.h>

#include "common/walk_tree.hpp"
#include "file_error.hpp"

namespace bubblewrap {

file_error measure(int workspace, const disk::tree_limits& most, disk::tree_use& out);

// Makes `owner` (uid and gid) the owner of everything in it. The workspace itself comes last, so that the next call repeats an
// interrupted one.
file_error give_to(int workspace, uid_t owner);

// Removes directories that are nested deeper than disk::max_depth, with their contents.
file_error trim_deep(int workspace, bool& trimmed);

}  // namespace bubblewrap

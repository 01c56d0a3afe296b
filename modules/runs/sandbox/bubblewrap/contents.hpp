// Everything in a workspace, met by descriptors: what it takes on disk, and whose it is.
//
// No link is followed and the length of paths does not matter, so that nothing an agent makes is
// overlooked or leads out, also while its commands change what is looked at. All functions block; any
// thread.
#pragma once
#include <sys/types.h>

#include <cstdint>

#include "workspace.hpp"

namespace bubblewrap {

struct disk_use {
  // What the files take; an empty one and a directory count as a block of 4 KiB. A file with several
  // names in the workspace counts once.
  std::uint64_t bytes = 0;
  // Directories lie deeper in each other than anybody's project needs, and were not counted.
  bool too_deep = false;
};

// `workspace`: an open directory.
file_error measure(int workspace, disk_use& out);

// Makes everything in it `owner`'s, uid and gid; the workspace itself last, so that whoever is
// interrupted finds it not done.
file_error give_to(int workspace, uid_t owner);

}  // namespace bubblewrap

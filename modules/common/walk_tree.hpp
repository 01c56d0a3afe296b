// Visits all entries of a directory tree whose shape another party controls, and sums their disk usage.
//
// No link is followed, and the length of paths does not matter: entries are reached by descriptors, also while another
// process changes the tree. At most `max_depth` directories are open at a time. Thread: any; the functions block.
#pragma once
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace disk {

inline constexpr std::size_t max_depth = 256;

enum class visit { enter, skip, stop };  // `skip`: a directory is not entered
// directory, name and status of an entry. `deep`: a directory at max_depth, which is never entered.
using visitor = std::function<visit(int directory, const char* name, const struct stat& status, bool deep)>;

// `directory`: open for reading. 0, or a value of errno when a directory cannot be read.
int walk_tree(int directory, const visitor& meet);

struct tree_use {
  // An empty file and a directory count as a block of 4 KiB. A file with several names in the tree counts once.
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;  // names: files, directories and others
  bool too_deep = false;      // what lies deeper than max_depth is not counted
  bool partial = false;       // a limit was exceeded, and counting ended there
};
struct tree_limits {
  std::uint64_t bytes = UINT64_MAX, entries = UINT64_MAX;
};
// Counting ends beyond the limits, so that the time is bounded. 0 or a value of errno.
int measure_tree(int directory, const tree_limits& most, tree_use& out);

}  // namespace disk

// Visits all entries of a directory tree with untrusted contents, and sums their disk usage.
//
// Does not follow links and does not depend on path lengths: it opens entries relative to descriptors, so it works even
// while another process modifies the tree. At most `max_depth` directories are open at a time.
//
// Thread: any; the functions block.
#pragma once
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace disk {

inline constexpr std::size_t max_depth = 256;

enum class visit { enter, skip, stop };  // skip: do not enter the directory
// Called with the parent directory, name and status of an entry. `deep`: a directory at max_depth, which is never
// entered.
using visitor = std::function<visit(int directory, const char* name, const struct stat& status, bool deep)>;

// `directory`: open for reading. Returns 0, or a value of errno if a directory cannot be read.
int walk_tree(int directory, const visitor& visit_entry);

struct tree_use {
  // An empty file and a directory count as 4 KiB. A file with several links in the tree counts once.
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;  // directory entries: files, directories and others
  bool too_deep = false;  // entries below max_depth are not counted
  bool partial = false;  // a limit was exceeded, so counting stopped early
};
struct tree_limits {
  std::uint64_t bytes = UINT64_MAX, entries = UINT64_MAX;
};
// Stops counting when a limit is exceeded, which bounds the time. Returns 0 or a value of errno.
int measure_tree(int directory, const tree_limits& limits, tree_use& out);

}  // namespace disk

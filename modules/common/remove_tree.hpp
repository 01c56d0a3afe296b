// Removes a directory tree with untrusted contents: any depth, any number of entries, directories without permissions,
// names with arbitrary bytes.
//
// At most `max_open_levels` directories are open at a time. A directory at a deeper level is first moved to the top of
// the tree (renameat), so neither descriptors nor path lengths grow with the depth. The removal does not follow
// links, does not cross mount points and touches nothing outside the tree, even while another process modifies the
// tree. It continues after entries that cannot be removed.
//
// Thread: any; the functions block. Errors are returned as values of errno.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace disk {

inline constexpr std::size_t max_open_levels = 16;

struct removal {
  int error = 0;  // errno of the first entry that could not be removed; 0: none
  bool stopped = false;  // `stop` ended the removal early
  bool complete() const { return error == 0 && !stopped; }
};

// Returns true if the removal must stop. Called every few hundred entries.
using stop_condition = std::function<bool()>;
// Limits the removal of a tree to which another process may keep adding entries.
stop_condition stop_after(std::chrono::milliseconds time);

// Removes the entry `name` of the directory `parent`: a file, or a directory with all its contents. An entry that does
// not exist counts as removed. The function may be called again to continue.
removal remove_tree(int parent, const std::string& name, const stop_condition& stop = {});
removal remove_tree(const std::string& path, const stop_condition& stop = {});

// Opens the directory `name` of `parent` for reading. Restores missing owner permissions first, because a user's
// command may have removed them. On failure, returns -1 with errno: ENOTDIR or ELOOP if it is not a directory.
int open_directory_with_permissions(int parent, const char* name);

}  // namespace disk

// Shared by workspace and tree: path resolution beneath a workspace by the kernel, error messages that contain only
// paths inside the workspace, and atomic creation of files. All functions block; any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "file_error.hpp"

namespace bubblewrap {

file_error fail(ry_status status, std::string message);
file_error from_errno(int error, std::string_view path);

// For links in the middle of a path. In both cases, no link leads out of the workspace.
enum class links { follow, refuse };
// Returns a descriptor, or -1 with errno.
int open_beneath(int directory, const std::string& path, std::uint64_t flags, links follow = links::follow);

file_error check_path(std::string_view path);
struct split_path {
  std::vector<std::string> parents;
  std::string name;
};
// Splits a path of a file to create: the last component must be a name other than "", "." and "..".
file_error split(std::string_view path, split_path& out);
// Opens the directory of a file to create; creates missing directories.
file_error open_parent(int workspace, const split_path& path, std::optional<uid_t> owner, unique_fd& out);

// On failure, these return false and set errno.
bool write_all(int fd, std::string_view bytes);
bool copy_all(int from, int to);

// Prefix of files that are still being written. They are not listed.
inline constexpr std::string_view temporary_prefix = ".ry-new-";
std::string temporary_name();

// The destructor removes the file unless it was renamed to its final name.
struct temporary_file {
  int directory;
  std::string name = temporary_name();
  bool placed = false;
  ~temporary_file();
};

}  // namespace bubblewrap

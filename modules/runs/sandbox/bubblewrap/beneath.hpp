// Shared by workspace and tree: path resolution beneath a workspace by the kernel, error messages that name only paths
// inside it, and atomic creation of files. All functions block; any thread.
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

enum class links { follow, refuse };  // links in the middle of a path; in both cases none leads out of the workspace
// A descriptor, or -1 with errno.
int open_beneath(int directory, const std::string& path, std::uint64_t flags, links follow = links::follow);

file_error check_path(std::string_view path);
struct split_path {
  std::vector<std::string> parents;
  std::string name;
};
// The last component must be a name: "", "." and ".." cannot be created.
file_error split(std::string_view path, split_path& out);
// Opens the directory of the file to be made; missing directories are made.
file_error open_parent(int workspace, const split_path& path, std::optional<uid_t> owner, unique_fd& out);

// False with errno.
bool write_all(int fd, std::string_view bytes);
bool copy_all(int from, int to);

// Prefix of files that are still being written. No listing shows them.
inline constexpr std::string_view temporary_prefix = ".ry-new-";
std::string temporary_name();

// Removes its file again unless it got its final name.
struct temporary_file {
  int directory;
  std::string name = temporary_name();
  bool placed = false;
  ~temporary_file();
};

}  // namespace bubblewrap

// The files of the projects: <root>/<project uuid>/ appears as /workspace in the sandbox.
//
// The kernel resolves every path beneath the workspace (openat2 with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS), so
// that no link that a command creates leads out of it, not even a link that is replaced concurrently. Only regular
// files are read.
//
// Thread: all functions block and may be called concurrently from any thread. Lifetime: must outlive its calls.
// Errors: a status and a message that contains only paths inside the workspace.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "file_error.hpp"

namespace bubblewrap {

struct file_content {
  std::string bytes;
  std::uint64_t total_size = 0;
};

class workspaces {
 public:
  // `root` must exist.
  explicit workspaces(std::string root);

  // The directory on the host, which need not exist. Empty if the id is malformed.
  std::string path_of(std::string_view project_id) const;
  // Creates the workspace if it does not exist. `owner`: uid and gid of new files and directories; nullopt: the
  // server's user. A workspace of another user, with all its content, is changed to this owner.
  file_error ensure(std::string_view project_id, std::optional<uid_t> owner) const;
  file_error read(std::string_view project_id, std::string_view path, std::uint64_t offset, std::uint64_t max_bytes,
                  file_content& out) const;
  // The descriptor refers to the file itself, so a later replacement of the file does not affect the reader.
  file_error open(std::string_view project_id, std::string_view path, unique_fd& out, std::uint64_t& size) const;
  file_error write(std::string_view project_id, std::string_view path, std::string_view content,
                   std::optional<uid_t> owner) const;
  // Moves host_path into the workspace. RY_ALREADY_EXISTS: the target exists.
  file_error import(std::string_view project_id, std::string_view path, const std::string& host_path,
                    std::optional<uid_t> owner) const;
  // Returns the entries of a directory as a JSON array, sorted by name, at most 10 000.
  file_error list(std::string_view project_id, std::string_view path, std::string& json) const;

  // RY_NOT_FOUND: the project has no workspace.
  file_error open_workspace(std::string_view project_id, unique_fd& out) const;

 private:
  std::string root_;
};

// Whether the text consists of 8-4-4-4-12 lower-case hexadecimal digits. Only such names become directories.
bool is_project_id(std::string_view text);

// Opens a package cache, a directory outside the workspaces that commands of one user fill. Changes its owner to that
// user if it belongs to another one, which happens after a change of uid_base or uid_count. owner 0: the server's user.
file_error open_cache(const std::string& path, uid_t owner, unique_fd& out);

}  // namespace bubblewrap

#include "workspace.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <ry/cpp/types.hpp>
#include <vector>

#include "beneath.hpp"
#include "contents.hpp"

namespace bubblewrap {
namespace {

constexpr std::size_t max_entries = 10000;

const char* kind_of(mode_t mode) {
  if (S_ISREG(mode)) return "file";
  if (S_ISDIR(mode)) return "dir";
  if (S_ISLNK(mode)) return "link";
  return "other";
}

}  // namespace

bool is_project_id(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (c != '-') return false;
    } else if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
      return false;
    }
  }
  return true;
}

workspaces::workspaces(std::string root) : root_(std::move(root)) {}

std::string workspaces::path_of(std::string_view project_id) const {
  if (!is_project_id(project_id)) return {};
  return root_ + "/" + std::string(project_id);
}

file_error workspaces::ensure(std::string_view project_id, std::optional<uid_t> owner) const {
  const std::string path = path_of(project_id);
  if (path.empty()) return fail(RY_INVALID_ARGUMENT, "project_id is not a UUID");
  if (::mkdir(path.c_str(), 0700) == 0) {
    if (owner && ::chown(path.c_str(), *owner, *owner) != 0) return from_errno(errno, "the workspace");
    return {};
  }
  if (errno != EEXIST) return from_errno(errno, "the workspace");
  if (!owner) return {};
  unique_fd workspace;
  if (file_error error = open_workspace(project_id, workspace)) return error;
  struct stat present {};
  if (::fstat(workspace.get(), &present) != 0) return from_errno(errno, "the workspace");
  if (present.st_uid == *owner && present.st_gid == *owner) return {};
  return change_owner(workspace.get(), *owner);
}

file_error workspaces::open_workspace(std::string_view project_id, unique_fd& out) const {
  const std::string path = path_of(project_id);
  if (path.empty()) return fail(RY_INVALID_ARGUMENT, "project_id is not a UUID");
  out = unique_fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (out) return {};
  if (errno == ENOENT) return fail(RY_NOT_FOUND, "the project has no workspace yet");
  return from_errno(errno, "the workspace");
}

file_error workspaces::open(std::string_view project_id, std::string_view path, unique_fd& out,
                            std::uint64_t& size) const {
  if (file_error error = check_path(path)) return error;
  unique_fd workspace;
  if (file_error error = open_workspace(project_id, workspace)) return error;
  const std::string relative = path.empty() ? "." : std::string(path);
  // O_NONBLOCK, because opening a named pipe could block the thread.
  unique_fd file(open_beneath(workspace.get(), relative, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (!file) return from_errno(errno, path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return from_errno(errno, path);
  if (S_ISDIR(status.st_mode)) return from_errno(EISDIR, path);
  if (!S_ISREG(status.st_mode)) return from_errno(ENXIO, path);
  size = static_cast<std::uint64_t>(status.st_size);
  out = std::move(file);
  return {};
}

file_error workspaces::read(std::string_view project_id, std::string_view path, std::uint64_t offset,
                            std::uint64_t max_bytes, file_content& out) const {
  unique_fd file;
  if (file_error error = open(project_id, path, file, out.total_size)) return error;
  out.bytes.clear();
  if (offset >= out.total_size) return {};
  out.bytes.resize(std::min(max_bytes, out.total_size - offset));
  std::size_t size_read = 0;
  while (size_read < out.bytes.size()) {
    const ssize_t n = ::pread(file.get(), out.bytes.data() + size_read, out.bytes.size() - size_read,
                              static_cast<off_t>(offset + size_read));
    if (n < 0) {
      if (errno == EINTR) continue;
      return from_errno(errno, path);
    }
    if (n == 0) break;
    size_read += static_cast<std::size_t>(n);
  }
  out.bytes.resize(size_read);
  return {};
}

file_error workspaces::write(std::string_view project_id, std::string_view path, std::string_view content,
                             std::optional<uid_t> owner) const {
  split_path parts;
  if (file_error error = split(path, parts)) return error;
  unique_fd workspace;
  if (file_error error = open_workspace(project_id, workspace)) return error;
  unique_fd parent;
  if (file_error error = open_parent(workspace.get(), parts, owner, parent)) return error;
  struct stat present {};
  mode_t mode = 0644;
  if (::fstatat(parent.get(), parts.name.c_str(), &present, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISDIR(present.st_mode)) return from_errno(EISDIR, path);
    if (S_ISREG(present.st_mode)) mode = present.st_mode & 0777;
  }
  temporary_file fresh{parent.get()};
  unique_fd file(
      ::openat(parent.get(), fresh.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return from_errno(errno, path);
  if (!write_all(file.get(), content)) return from_errno(errno, path);
  if (owner && ::fchown(file.get(), *owner, *owner) != 0) return from_errno(errno, path);
  if (::fchmod(file.get(), mode) != 0) return from_errno(errno, path);
  if (::renameat(parent.get(), fresh.name.c_str(), parent.get(), parts.name.c_str()) != 0)
    return from_errno(errno, path);
  fresh.placed = true;
  return {};
}

file_error workspaces::import(std::string_view project_id, std::string_view path, const std::string& host_path,
                              std::optional<uid_t> owner) const {
  split_path parts;
  if (file_error error = split(path, parts)) return error;
  unique_fd workspace;
  if (file_error error = open_workspace(project_id, workspace)) return error;
  unique_fd parent;
  if (file_error error = open_parent(workspace.get(), parts, owner, parent)) return error;
  unique_fd source(::open(host_path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!source || ::fstat(source.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(RY_NOT_FOUND, "the file to import into \"" + std::string(path) + "\" is gone");
  if (::faccessat(parent.get(), parts.name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return from_errno(EEXIST, path);
  if (owner && ::fchown(source.get(), *owner, *owner) != 0) return from_errno(errno, path);
  if (::fchmod(source.get(), 0644) != 0) return from_errno(errno, path);
  if (::renameat2(AT_FDCWD, host_path.c_str(), parent.get(), parts.name.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EXDEV && errno != EINVAL) return from_errno(errno, path);
  temporary_file fresh{parent.get()};
  unique_fd copy(
      ::openat(parent.get(), fresh.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!copy || !copy_all(source.get(), copy.get())) return from_errno(errno, path);
  if (owner && ::fchown(copy.get(), *owner, *owner) != 0) return from_errno(errno, path);
  // A hard link fails on every file system if the name exists. The temporary name is removed afterwards.
  if (::linkat(parent.get(), fresh.name.c_str(), parent.get(), parts.name.c_str(), 0) != 0)
    return from_errno(errno, path);
  ::unlink(host_path.c_str());
  return {};
}

file_error workspaces::list(std::string_view project_id, std::string_view path, std::string& json) const {
  if (file_error error = check_path(path)) return error;
  unique_fd workspace;
  if (file_error error = open_workspace(project_id, workspace)) return error;
  const std::string relative = path.empty() ? "." : std::string(path);
  unique_fd directory(open_beneath(workspace.get(), relative, O_RDONLY | O_DIRECTORY));
  if (!directory) {
    if (errno == ENOTDIR) return fail(RY_FAILED_PRECONDITION, "\"" + std::string(path) + "\" is not a directory");
    return from_errno(errno, path);
  }
  std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(directory.get()), &::closedir);
  if (!stream) return from_errno(errno, path);
  const int fd = directory.release();
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || name.starts_with(temporary_prefix)) continue;
    if (names.size() == max_entries) break;
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  json = "[";
  for (const std::string& name : names) {
    struct stat status {};
    if (::fstatat(fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;  // just removed
    if (json.size() > 1) json += ',';
    json += "{\"name\":";
    ry::append_json_string(json, name);
    json += ",\"kind\":\"";
    json += kind_of(status.st_mode);
    json += "\",\"size\":" + std::to_string(status.st_size) + ",\"modified_unix_us\":" +
            std::to_string(status.st_mtim.tv_sec * 1000000LL + status.st_mtim.tv_nsec / 1000) + "}";
  }
  json += "]";
  return {};
}

file_error open_cache(const std::string& path, uid_t owner, unique_fd& out) {
  out = unique_fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat present {};
  if (!out || ::fstat(out.get(), &present) != 0) return {RY_NOT_FOUND, "the cache cannot be opened"};
  if (owner == 0 || (present.st_uid == owner && present.st_gid == owner)) return {};
  return change_owner(out.get(), owner);
}

}  // namespace bubblewrap

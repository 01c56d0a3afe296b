#include "tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>

#include "beneath.hpp"
#include "common/remove_tree.hpp"

namespace bubblewrap {
namespace {

constexpr auto max_removal_time = std::chrono::seconds(60);

constexpr std::size_t max_path = 4000;

std::int64_t nanoseconds(const timespec& t) {
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

bool read_link(int directory, const char* name, std::string& out) {
  char text[4096];
  const ssize_t n = ::readlinkat(directory, name, text, sizeof text);
  if (n < 0 || n == static_cast<ssize_t>(sizeof text)) return false;
  out.assign(text, static_cast<std::size_t>(n));
  return true;
}

std::string path_in(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
}

// A command can remove the permissions of its directories; an unprivileged server must then restore them.
unique_fd open_directory(int workspace, const std::string& path) {
  const std::string at = path.empty() ? "." : path;
  unique_fd fd(open_beneath(workspace, at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, links::refuse));
  if (fd || errno != EACCES) return fd;
  unique_fd handle(open_beneath(workspace, at, O_PATH | O_DIRECTORY | O_NOFOLLOW, links::refuse));
  if (!handle) return {};
  const std::string self = "/proc/self/fd/" + std::to_string(handle.get());
  if (::chmod(self.c_str(), 0755) != 0) return {};
  return unique_fd(open_beneath(workspace, at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, links::refuse));
}

// Adds all entries beneath the directory `top`, each directory before its contents.
file_error walk(int workspace, const std::string& top, std::uint64_t max_entries, std::vector<tree_entry>& out) {
  std::vector<std::string> waiting{top};
  while (!waiting.empty()) {
    const std::string path = std::move(waiting.back());
    waiting.pop_back();
    unique_fd directory = open_directory(workspace, path);
    if (!directory) {
      if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) continue;  // just replaced
      return from_errno(errno, path);
    }
    std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(directory.get()), &::closedir);
    if (!stream) return from_errno(errno, path);
    const int fd = directory.release();
    while (const dirent* item = ::readdir(stream.get())) {
      const std::string_view name = item->d_name;
      if (name == "." || name == ".." || name.starts_with(temporary_prefix)) continue;
      struct stat status {};
      if (::fstatat(fd, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;  // just removed
      tree_entry e;
      e.path = path_in(path, name);
      if (e.path.size() > max_path) continue;
      if (S_ISREG(status.st_mode)) {
        e.kind = RY_SANDBOX_FILE;
        e.size = static_cast<std::uint64_t>(status.st_size);
      } else if (S_ISDIR(status.st_mode)) {
        e.kind = RY_SANDBOX_DIR;
        waiting.push_back(e.path);
      } else if (S_ISLNK(status.st_mode)) {
        e.kind = RY_SANDBOX_LINK;
        if (!read_link(fd, item->d_name, e.target)) continue;
      } else {
        continue;
      }
      e.inode = status.st_ino;
      e.modified_ns = nanoseconds(status.st_mtim);
      e.changed_ns = nanoseconds(status.st_ctim);
      e.mode = status.st_mode & 0777;
      if (out.size() >= max_entries)
        return fail(RY_RESOURCE_EXHAUSTED, "the workspace has more than " + std::to_string(max_entries) + " files");
      out.push_back(std::move(e));
    }
  }
  return {};
}

// Removes the entry with this name, of any kind.
file_error clear(int parent, const std::string& path, const std::string& name) {
  const disk::removal done = disk::remove_tree(parent, name, disk::stop_after(max_removal_time));
  if (done.complete()) return {};
  return from_errno(done.stopped ? ENOTEMPTY : done.error, path);
}

file_error place_file(int parent, const tree_entry& entry, const std::string& name, const std::string& host_path,
                      std::optional<uid_t> owner) {
  unique_fd source(::open(host_path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!source || ::fstat(source.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(RY_NOT_FOUND, "the file to place at \"" + entry.path + "\" is gone");
  const auto apply_attributes = [&](int fd) {
    const timespec times[2] = {{0, UTIME_OMIT}, {entry.modified_ns / 1'000'000'000, entry.modified_ns % 1'000'000'000}};
    return (!owner || ::fchown(fd, *owner, *owner) == 0) && ::fchmod(fd, entry.mode & 0777) == 0 &&
           (entry.modified_ns <= 0 || ::futimens(fd, times) == 0);
  };
  struct stat existing {};
  if (::fstatat(parent, name.c_str(), &existing, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(existing.st_mode))
    if (file_error error = clear(parent, entry.path, name)) return error;
  if (!apply_attributes(source.get())) return from_errno(errno, entry.path);
  if (::renameat(AT_FDCWD, host_path.c_str(), parent, name.c_str()) == 0) return {};
  if (errno != EXDEV) return from_errno(errno, entry.path);
  temporary_file fresh{parent};
  unique_fd copy(::openat(parent, fresh.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!copy || !copy_all(source.get(), copy.get()) || !apply_attributes(copy.get()))
    return from_errno(errno, entry.path);
  if (::renameat(parent, fresh.name.c_str(), parent, name.c_str()) != 0) return from_errno(errno, entry.path);
  fresh.placed = true;
  ::unlink(host_path.c_str());
  return {};
}

}  // namespace

file_error scan_tree(const workspaces& all, std::string_view project_id, std::uint64_t max_entries,
                     std::vector<tree_entry>& out) {
  unique_fd workspace;
  if (file_error error = all.open_workspace(project_id, workspace)) return error;
  struct statx status {};
  if (::statx(workspace.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status) != 0)
    return from_errno(errno, "the workspace");
  tree_entry self;
  self.kind = RY_SANDBOX_DIR;
  self.inode = status.stx_ino;
  self.mode = status.stx_mode & 0777;
  if ((status.stx_mask & STATX_BTIME) != 0)
    self.changed_ns = status.stx_btime.tv_sec * 1'000'000'000LL + status.stx_btime.tv_nsec;
  out.push_back(std::move(self));
  return walk(workspace.get(), "", max_entries == UINT64_MAX ? max_entries : max_entries + 1, out);
}

file_error place_entry(const workspaces& all, std::string_view project_id, const tree_entry& entry,
                       const std::string& host_path, std::optional<uid_t> owner) {
  split_path parts;
  if (file_error error = split(entry.path, parts)) return error;
  unique_fd workspace;
  if (file_error error = all.open_workspace(project_id, workspace)) return error;
  unique_fd parent;
  if (file_error error = open_parent(workspace.get(), parts, owner, parent)) {
    // If its directory does not exist, the entry does not exist either.
    if (entry.kind == RY_SANDBOX_DELETED && error.status == RY_NOT_FOUND) return {};
    return error;
  }
  const char* name = parts.name.c_str();
  switch (entry.kind) {
    case RY_SANDBOX_DELETED:
      return clear(parent.get(), entry.path, parts.name);
    case RY_SANDBOX_FILE:
      return place_file(parent.get(), entry, parts.name, host_path, owner);
    case RY_SANDBOX_DIR: {
      struct stat existing {};
      const bool exists = ::fstatat(parent.get(), name, &existing, AT_SYMLINK_NOFOLLOW) == 0;
      if (!exists || !S_ISDIR(existing.st_mode)) {
        if (exists)
          if (file_error error = clear(parent.get(), entry.path, parts.name)) return error;
        if (::mkdirat(parent.get(), name, 0700) != 0) return from_errno(errno, entry.path);
      }
      unique_fd directory_fd(::openat(parent.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!directory_fd || (owner && ::fchown(directory_fd.get(), *owner, *owner) != 0) ||
          ::fchmod(directory_fd.get(), (entry.mode & 0777) | 0700) != 0)
        return from_errno(errno, entry.path);
      return {};
    }
    case RY_SANDBOX_LINK:
      if (file_error error = clear(parent.get(), entry.path, parts.name)) return error;
      if (::symlinkat(entry.target.c_str(), parent.get(), name) != 0) return from_errno(errno, entry.path);
      if (owner && ::fchownat(parent.get(), name, *owner, *owner, AT_SYMLINK_NOFOLLOW) != 0)
        return from_errno(errno, entry.path);
      return {};
    default:
      return fail(RY_INVALID_ARGUMENT, "the entry has an unknown kind");
  }
}

}  // namespace bubblewrap

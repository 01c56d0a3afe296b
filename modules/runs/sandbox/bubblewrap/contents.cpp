#include "contents.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "beneath.hpp"

namespace bubblewrap {
namespace {

constexpr std::size_t max_depth = 256;  // each level holds a descriptor
constexpr std::uint64_t block = 4096;

using directory_stream = std::unique_ptr<DIR, int (*)(DIR*)>;

// An agent can take its own directories away from an unprivileged server; it gets them back.
int open_directory(int parent, const char* name) {
  constexpr int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const int fd = ::openat(parent, name, O_RDONLY | flags);
  if (fd >= 0 || errno != EACCES) return fd;
  unique_fd handle(::openat(parent, name, O_PATH | flags));
  if (!handle) return -1;
  if (::chmod(("/proc/self/fd/" + std::to_string(handle.get())).c_str(), 0755) != 0) return -1;
  return ::openat(parent, name, O_RDONLY | flags);
}

// Calls meet(directory, name, status) for each thing. False with errno when one could not be met;
// ELOOP: too deep.
template <class Meet>
bool walk(int workspace, Meet meet) {
  std::vector<directory_stream> open;
  const auto enter = [&](int fd) {
    directory_stream stream(fd < 0 ? nullptr : ::fdopendir(fd), &::closedir);
    if (!stream) {
      const int error = errno;
      if (fd >= 0) ::close(fd);
      errno = error;
      return false;
    }
    open.push_back(std::move(stream));
    return true;
  };
  if (!enter(open_directory(workspace, "."))) return false;
  bool deep = false;
  while (!open.empty()) {
    const dirent* item = ::readdir(open.back().get());
    if (item == nullptr) {
      open.pop_back();
      continue;
    }
    const std::string_view name = item->d_name;
    if (name == "." || name == "..") continue;
    const int directory = ::dirfd(open.back().get());
    struct stat status {};
    if (::fstatat(directory, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone
    if (!meet(directory, item->d_name, status)) return false;
    if (!S_ISDIR(status.st_mode)) continue;
    if (open.size() == max_depth) {
      deep = true;
      continue;
    }
    if (!enter(open_directory(directory, item->d_name)) && errno != ENOENT && errno != ENOTDIR &&
        errno != ELOOP)  // these: just replaced
      return false;
  }
  if (deep) errno = ELOOP;
  return !deep;
}

}  // namespace

file_error measure(int workspace, disk_use& out) {
  out = {};
  std::set<ino_t> several;
  const bool whole = walk(workspace, [&](int, const char*, const struct stat& status) {
    if (!S_ISDIR(status.st_mode) && status.st_nlink > 1 && !several.insert(status.st_ino).second)
      return true;
    out.bytes += std::max<std::uint64_t>(static_cast<std::uint64_t>(status.st_blocks) * 512, block);
    return true;
  });
  if (whole) return {};
  if (errno != ELOOP) return from_errno(errno, "the workspace");
  out.too_deep = true;
  return {};
}

file_error give_to(int workspace, uid_t owner) {
  const bool whole = walk(workspace, [&](int directory, const char* name, const struct stat& status) {
    if (status.st_uid == owner && status.st_gid == owner) return true;
    return ::fchownat(directory, name, owner, owner, AT_SYMLINK_NOFOLLOW) == 0 || errno == ENOENT;
  });
  if (!whole || ::fchown(workspace, owner, owner) != 0) return from_errno(errno, "the workspace");
  return {};
}

}  // namespace bubblewrap

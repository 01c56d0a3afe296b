#include "beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ry/cpp/text.hpp>

#include "without_protection.hpp"

namespace bubblewrap {

file_error fail(ry_status status, std::string message) {
  return {status, std::move(message)};
}

file_error from_errno(int error, std::string_view path) {
  const std::string name = "\"" + std::string(path) + "\"";
  if (error == ENXIO && ry_test::without_protection("special_files")) return fail(RY_INTERNAL, name);
  switch (error) {
    case ENOENT:
      return fail(RY_NOT_FOUND, "there is no file " + name);
    case ENOTDIR:
      return fail(RY_NOT_FOUND, name + " goes through something that is not a directory");
    case EXDEV:
      return fail(RY_PERMISSION_DENIED, name + " leaves the workspace");
    case ELOOP:
      return fail(RY_PERMISSION_DENIED, name + " goes through a link that is not followed");
    case EACCES:
    case EPERM:
      return fail(RY_PERMISSION_DENIED, "no access to " + name);
    case EISDIR:
      return fail(RY_FAILED_PRECONDITION, name + " is a directory");
    case EEXIST:
      return fail(RY_ALREADY_EXISTS, name + " exists already");
    case ENAMETOOLONG:
      return fail(RY_INVALID_ARGUMENT, "the path is too long");
    case ENOSPC:
    case EDQUOT:
      return fail(RY_RESOURCE_EXHAUSTED, "no space is left for " + name);
    case EMLINK:
      return fail(RY_RESOURCE_EXHAUSTED, "the directory of " + name + " is full");
    case ENXIO:  // the error of opening a socket
    case ENODEV:
      return fail(RY_FAILED_PRECONDITION, name + " is not a regular file");
    case EAGAIN:
    case ENOTEMPTY:
      return fail(RY_FAILED_PRECONDITION, name + " was changed by a command at the same time");
    case EMFILE:
    case ENFILE:
      return fail(RY_UNAVAILABLE, "the server has too many open files");
    default:
      return fail(RY_INTERNAL, name + ": " + std::strerror(error));
  }
}

int open_beneath(int directory, const std::string& path, std::uint64_t flags, links follow) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (follow == links::refuse ? RESOLVE_NO_SYMLINKS : 0);
  int fd = -1;
  // EAGAIN: a concurrent rename prevented the kernel from verifying the result.
  for (int attempt = 0; attempt < 16; ++attempt) {
    fd = static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof(how)));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return fd;
}

file_error check_path(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) return fail(RY_INVALID_ARGUMENT, "the path contains a NUL byte");
  if (path.size() > 4000) return fail(RY_INVALID_ARGUMENT, "the path is too long");
  if (!path.empty() && path.front() == '/') return fail(RY_PERMISSION_DENIED, "paths are relative to the workspace");
  return {};
}

file_error split(std::string_view path, split_path& out) {
  if (file_error error = check_path(path)) return error;
  std::size_t at = 0;
  std::vector<std::string> parts;
  while (at <= path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    at = end + 1;
  }
  if (parts.empty() || parts.back() == ".." || path.back() == '/')
    return fail(RY_INVALID_ARGUMENT, "the path does not name a file");
  out.name = std::move(parts.back());
  parts.pop_back();
  out.parents = std::move(parts);
  return {};
}

file_error open_parent(int workspace, const split_path& path, std::optional<uid_t> owner, unique_fd& out) {
  std::string prefix = ".";
  unique_fd at(open_beneath(workspace, prefix, O_RDONLY | O_DIRECTORY));
  if (!at) return from_errno(errno, prefix);
  for (const std::string& part : path.parents) {
    prefix += "/" + part;
    int fd = open_beneath(workspace, prefix, O_RDONLY | O_DIRECTORY);
    if (fd < 0 && errno == ENOENT) {
      if (::mkdirat(at.get(), part.c_str(), 0755) != 0 && errno != EEXIST) return from_errno(errno, prefix.substr(2));
      fd = open_beneath(workspace, prefix, O_RDONLY | O_DIRECTORY);
      if (fd >= 0 && owner && ::fchown(fd, *owner, *owner) != 0) {
        const int error = errno;
        ::close(fd);
        return from_errno(error, prefix.substr(2));
      }
    }
    if (fd < 0) return from_errno(errno, prefix.substr(2));
    at = unique_fd(fd);
  }
  out = std::move(at);
  return {};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool copy_all(int from, int to) {
  std::vector<char> buffer(256 * 1024);
  for (;;) {
    const ssize_t n = ::read(from, buffer.data(), buffer.size());
    if (n == 0) return true;
    if (n < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (!write_all(to, {buffer.data(), static_cast<std::size_t>(n)})) return false;
  }
}

std::string temporary_name() {
  unsigned char random[8] = {};
  if (::getrandom(random, sizeof random, 0) != sizeof random) std::memset(random, 0, sizeof random);
  std::string name(temporary_prefix);
  return name + ry::to_hex(random);
}

temporary_file::~temporary_file() {
  if (!placed) ::unlinkat(directory, name.c_str(), 0);
}

}  // namespace bubblewrap

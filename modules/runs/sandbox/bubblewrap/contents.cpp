#include "contents.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "beneath.hpp"
#include "common/remove_tree.hpp"

namespace bubblewrap {
namespace {

constexpr auto max_contents_removal_time = std::chrono::seconds(60);

}  // namespace

file_error measure(int workspace, const disk::tree_limits& limits, disk::tree_use& out) {
  if (const int error = disk::measure_tree(workspace, limits, out)) return from_errno(error, "the workspace");
  return {};
}

file_error change_owner(int workspace, uid_t owner) {
  int failure = 0;
  const int error =
      disk::walk_tree(workspace, [&](int directory, const char* name, const struct stat& status, bool deep) {
        if (deep)
          failure = ELOOP;
        else if ((status.st_uid != owner || status.st_gid != owner) &&
                 ::fchownat(directory, name, owner, owner, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
          failure = errno;
        return failure == 0 ? disk::visit::enter : disk::visit::stop;
      });
  if (error != 0 || failure != 0) return from_errno(error != 0 ? error : failure, "the workspace");
  if (::fchown(workspace, owner, owner) != 0) return from_errno(errno, "the workspace");
  return {};
}

file_error trim_deep(int workspace, bool& trimmed) {
  trimmed = false;
  disk::removal first;
  const disk::stop_condition stop = disk::stop_after(max_contents_removal_time);
  const int error = disk::walk_tree(workspace, [&](int directory, const char* name, const struct stat&, bool deep) {
    if (!deep) return disk::visit::enter;
    trimmed = true;
    const disk::removal done = disk::remove_tree(directory, name, stop);
    if (first.complete()) first = done;
    return disk::visit::skip;
  });
  if (error != 0 || first.error != 0) return from_errno(error != 0 ? error : first.error, "the workspace");
  if (first.stopped) return from_errno(ENOTEMPTY, "the workspace");
  return {};
}

}  // namespace bubblewrap

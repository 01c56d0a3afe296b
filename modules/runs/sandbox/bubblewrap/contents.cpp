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

constexpr auto longest_removal = std::chrono::seconds(60);

}  // namespace

file_error measure(int workspace, const disk::tree_limits& most, disk::tree_use& out) {
  if (const int error = disk::measure_tree(workspace, most, out)) return from_errno(error, "the workspace");
  return {};
}

file_error give_to(int workspace, uid_t owner) {
  int refused = 0;
  const int error =
      disk::walk_tree(workspace, [&](int directory, const char* name, const struct stat& status, bool deep) {
        if (deep)
          refused = ELOOP;
        else if ((status.st_uid != owner || status.st_gid != owner) &&
                 ::fchownat(directory, name, owner, owner, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
          refused = errno;
        return refused == 0 ? disk::visit::enter : disk::visit::stop;
      });
  if (error != 0 || refused != 0) return from_errno(error != 0 ? error : refused, "the workspace");
  if (::fchown(workspace, owner, owner) != 0) return from_errno(errno, "the workspace");
  return {};
}

file_error trim_deep(int workspace, bool& trimmed) {
  trimmed = false;
  disk::removal first;
  const disk::stop_condition stop = disk::stop_after(longest_removal);
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

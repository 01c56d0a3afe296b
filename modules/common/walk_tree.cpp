#include "walk_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "remove_tree.hpp"
#include "without_protection.hpp"

namespace disk {
namespace {

constexpr std::uint64_t block = 4096;

using directory_stream = std::unique_ptr<DIR, int (*)(DIR*)>;

// Takes ownership of the descriptor. Returns 0 or a value of errno.
int enter(int fd, std::vector<directory_stream>& open) {
  if (fd < 0) return errno;
  directory_stream stream(::fdopendir(fd), &::closedir);
  if (!stream) {
    const int error = errno;
    ::close(fd);
    return error;
  }
  open.push_back(std::move(stream));
  return 0;
}

}  // namespace

int walk_tree(int directory, const visitor& visit_entry) {
  std::vector<directory_stream> open;
  if (const int error = enter(open_directory_with_permissions(directory, "."), open)) return error;
  while (!open.empty()) {
    const dirent* item = ::readdir(open.back().get());
    if (item == nullptr) {
      open.pop_back();
      continue;
    }
    const std::string_view name = item->d_name;
    if (name == "." || name == "..") continue;
    const int at = ::dirfd(open.back().get());
    struct stat status {};
    if (::fstatat(at, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;  // removed in the meantime
    const bool is_directory = S_ISDIR(status.st_mode);
    const bool deep = is_directory && open.size() >= max_depth;
    const visit next = visit_entry(at, item->d_name, status, deep);
    if (next == visit::stop) return 0;
    if (next == visit::skip || deep || !is_directory) continue;
    const int error = enter(open_directory_with_permissions(at, item->d_name), open);
    if (error != 0 && error != ENOENT && error != ENOTDIR && error != ELOOP) return error;  // else: just replaced
  }
  return 0;
}

int measure_tree(int directory, const tree_limits& limits, tree_use& out) {
  out = {};
  std::set<std::pair<dev_t, ino_t>> seen_links;
  return walk_tree(directory, [&](int, const char*, const struct stat& status, bool deep) {
    out.too_deep = (out.too_deep || deep) && !ry_test::without_protection("workspace_depth");
    ++out.entries;
    const bool already_counted =
        !S_ISDIR(status.st_mode) && status.st_nlink > 1 && !seen_links.emplace(status.st_dev, status.st_ino).second;
    if (!already_counted)
      out.bytes += std::max<std::uint64_t>(static_cast<std::uint64_t>(status.st_blocks) * 512, block);
    out.partial = out.bytes > limits.bytes || out.entries > limits.entries;
    return out.partial ? visit::stop : visit::enter;
  });
}

}  // namespace disk

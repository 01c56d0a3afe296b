#include "remove_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "without_protection.hpp"

namespace disk {
namespace {

constexpr std::uint64_t entries_between_checks = 256;
constexpr std::string_view moved_prefix = ".ry-moved-";

using directory_stream = std::unique_ptr<DIR, int (*)(DIR*)>;

// Renaming and unlinking entries requires write permission on the directory. `directory` is open for reading.
void make_writable(int directory) {
  (void)::fchmod(directory, 0700);
}

class remover {
 public:
  explicit remover(const stop_condition& stop) : stop_(stop) {}

  removal run(int parent, const std::string& name) {
    if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return result_;
    const int unlink_error = errno;
    const int top = open_directory_with_permissions(parent, name.c_str());
    if (top < 0) {
      if (errno != ENOENT) record_error(errno == ENOTDIR || errno == ELOOP ? unlink_error : errno);
      return result_;
    }
    make_writable(top);
    mount_ = mount_of(top);
    directory_stream stream(::fdopendir(top), &::closedir);
    if (!stream) {
      const int error = errno;
      ::close(top);
      record_error(error);
      return result_;
    }
    top_ = top;
    levels_.push_back({std::move(stream), name});
    // Directories may be moved to the top while it is read, so repeat until a pass changes nothing.
    do {
      if (changed_ && stop_ && stop_()) {
        result_.stopped = true;
        break;
      }
      changed_ = false;
      result_.error = 0;
      ::rewinddir(levels_.front().stream.get());
      remove_contents();
    } while (changed_ && !result_.stopped && !is_empty());
    levels_.clear();
    if (result_.stopped) return result_;
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
      record_error(errno);
    else
      result_.error = 0;
    return result_;
  }

 private:
  struct level {
    directory_stream stream;
    std::string name;  // in the directory above
  };

  // Returns 0 if the kernel does not report the mount id. Device numbers do not suffice: a btrfs subvolume has its own.
  static std::uint64_t mount_of(int directory) {
    struct statx status {};
    const bool known =
        ::statx(directory, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) == 0 && (status.stx_mask & STATX_MNT_ID) != 0;
    return known ? status.stx_mnt_id : 0;
  }

  bool is_empty() {
    ::rewinddir(levels_.front().stream.get());
    while (const dirent* item = ::readdir(levels_.front().stream.get())) {
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") return false;
    }
    return true;
  }

  void record_error(int error) {
    if (result_.error == 0) result_.error = error;
  }

  void remove_contents() {
    while (!levels_.empty()) {
      if (++entries_seen_ % entries_between_checks == 0 && stop_ && stop_()) {
        result_.stopped = true;
        return;
      }
      errno = 0;
      const dirent* item = ::readdir(levels_.back().stream.get());
      if (item == nullptr) {
        if (errno != 0) record_error(errno);
        if (levels_.size() == 1) return;
        leave();
        continue;
      }
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") remove_entry(item->d_name);
    }
  }

  void remove_entry(const char* name) {
    const int directory = ::dirfd(levels_.back().stream.get());
    if (::unlinkat(directory, name, 0) == 0) {
      changed_ = true;
      return;
    }
    if (errno == ENOENT) return;
    // For a directory, Linux returns EISDIR and POSIX EPERM.
    const int unlink_error = errno;
    if (unlink_error != EISDIR && unlink_error != EPERM) return record_error(unlink_error);
    if (::unlinkat(directory, name, AT_REMOVEDIR) == 0) {
      changed_ = true;
      return;
    }
    if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES && errno != EPERM) {
      if (errno != ENOENT) record_error(errno == ENOTDIR ? unlink_error : errno);
      return;
    }
    const int inner = open_directory_with_permissions(directory, name);
    if (inner < 0) {
      if (errno != ENOENT) record_error(errno == ENOTDIR || errno == ELOOP ? unlink_error : errno);
      return;
    }
    if (mount_of(inner) != mount_) {
      ::close(inner);
      return record_error(EXDEV);
    }
    make_writable(inner);
    if (levels_.size() >= max_open_levels) {
      ::close(inner);
      return move_to_top(directory, name);
    }
    directory_stream stream(::fdopendir(inner), &::closedir);
    if (!stream) {
      const int error = errno;
      ::close(inner);
      return record_error(error);
    }
    levels_.push_back({std::move(stream), name});
  }

  void leave() {
    const std::string name = std::move(levels_.back().name);
    levels_.pop_back();
    const int directory = ::dirfd(levels_.back().stream.get());
    if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0) {
      changed_ = true;
    } else if (errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST) {
      record_error(errno);
    } else if (errno != ENOENT && result_.error == 0) {
      record_error(ENOTEMPTY);
    }
  }

  void move_to_top(int directory, const char* name) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::string target = std::string(moved_prefix) + std::to_string(moved_++);
      // Does not use RENAME_NOREPLACE, which some file systems lack. rename() can only replace an empty directory.
      if (::renameat(directory, name, top_, target.c_str()) == 0) {
        changed_ = true;
        return;
      }
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) break;
    }
    if (errno != ENOENT) record_error(errno);
  }

  const stop_condition& stop_;
  removal result_;
  int top_ = -1;
  std::uint64_t mount_ = 0;
  std::vector<level> levels_;
  bool changed_ = false;
  std::uint64_t entries_seen_ = 0, moved_ = 0;
};

}  // namespace

int open_directory_with_permissions(int parent, const char* name) {
  constexpr int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const int fd = ::openat(parent, name, O_RDONLY | flags);
  if (fd >= 0 || errno != EACCES) return fd;
  const int handle = ::openat(parent, name, O_PATH | flags);
  if (handle < 0) return -1;
  const bool permitted = ::chmod(("/proc/self/fd/" + std::to_string(handle)).c_str(), 0755) == 0;
  const int error = errno;
  ::close(handle);
  if (!permitted) {
    errno = error;
    return -1;
  }
  return ::openat(parent, name, O_RDONLY | flags);
}

stop_condition stop_after(std::chrono::milliseconds time) {
  return [until = std::chrono::steady_clock::now() + time] { return std::chrono::steady_clock::now() >= until; };
}

removal remove_tree(int parent, const std::string& name, const stop_condition& stop) {
  return remover(stop).run(parent, name);
}

removal remove_tree(const std::string& path, const stop_condition& stop) {
  if (ry_test::without_protection("tree_removal")) {
    std::error_code failed;
    std::filesystem::remove_all(path, failed);
    return {failed.value(), false};
  }
  return remove_tree(AT_FDCWD, path, stop);
}

}  // namespace disk

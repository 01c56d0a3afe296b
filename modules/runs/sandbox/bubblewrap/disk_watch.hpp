// Keeps commands within their limits of disk space: bytes, names and depth of a workspace, the size of a package cache, and
// a reserve of free space for everybody else on the file system.
//
// One thread looks at the free space and at unlinked open files several times a second, another one walks through the
// directories, each of them about every second and at least every few seconds. A walk is brought forward when the file
// system has lost more space than the workspace may still take. What is written between two looks can exceed a limit;
// conclude() looks once more after the command.
//
// A workspace that is larger than it may be keeps what it has: commands that remove files run, and one that makes it
// larger is ended.
//
// Thread: all functions from any thread; `end` is called on the threads of this object.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "common/walk_tree.hpp"
#include "workspace.hpp"

namespace bubblewrap {

enum class disk_verdict { none, bytes, files, depth, cache, space };

struct disk_command {
  pid_t leader = -1;
  unique_fd workspace{};  // none: not watched
  std::string project{};
  std::uint64_t max_bytes = UINT64_MAX, max_files = UINT64_MAX;
  unique_fd cache{};      // none: not watched
  std::uint64_t cache_bytes = 0;
  std::function<void()> end{};  // quick; may be called once
};

class disk_watch {
 public:
  // Free space in bytes, after each look while commands run; false: it is below the reserve. [its thread]
  using space_observer = std::function<void(std::uint64_t free_bytes, bool enough)>;

  explicit disk_watch(std::uint64_t reserve_bytes, space_observer observe = {})
      : reserve_bytes_(reserve_bytes), observe_(std::move(observe)) {}
  ~disk_watch();
  disk_watch(const disk_watch&) = delete;
  disk_watch& operator=(const disk_watch&) = delete;

  // A directory of the file system with the reserve. Before all other calls.
  void set_directory(std::string directory) { directory_ = std::move(directory); }
  struct space {
    std::uint64_t bytes = UINT64_MAX;
    bool enough = true;  // false: below the reserve, or nearly without inodes; a command that writes must not begin
  };
  // Does not block on more than statvfs.
  space free_space() const;

  void add(const void* key, disk_command command);
  disk_verdict verdict_on(const void* key) const;
  // After the command: measures its workspace for the last time, removes what lies too deep, and returns the verdict.
  // `use`: what the workspace takes. Blocks; not on an event loop.
  disk_verdict conclude(const void* key, disk::tree_use& use);
  // After it returned `end` is not called any more.
  void remove(const void* key);
  // The server itself wrote into the workspace.
  void note_write(const std::string& project, std::uint64_t bytes);
  // The workspace is removed.
  void forget(const std::string& project);

 private:
  using clock = std::chrono::steady_clock;
  struct entry {
    disk_command command;
    disk_verdict outcome = disk_verdict::none;
    std::mutex measuring;  // one walk at a time; guards `first`
    std::optional<disk::tree_use> first;
    // Guarded by mutex_.
    disk::tree_use last{};
    std::uint64_t unlinked = 0, written = 0;
    std::uint64_t free_at_walk = 0;
    clock::time_point next_walk{}, next_unlinked{}, may_walk{};
  };
  using entry_ptr = std::shared_ptr<entry>;

  void look_often();
  void walk_often();
  void look(const std::map<const void*, entry_ptr>& all);
  void end_for_space(const std::map<const void*, entry_ptr>& all, std::uint64_t free_bytes);
  bool is_over(const entry& e) const;
  disk_verdict walk(entry& e);
  void condemn(const void* key, const entry_ptr& e, disk_verdict why);

  const std::uint64_t reserve_bytes_;
  const space_observer observe_;
  std::string directory_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<const void*, entry_ptr> entries_;
  std::map<std::string, disk::tree_use> known_;  // of projects, after their last command
  bool ending_ = false;
  clock::time_point next_end_{};  // the look thread's own
  std::thread looking_, walking_;
};

}  // namespace bubblewrap

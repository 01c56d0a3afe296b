// Terminates commands that exceed their limits of disk space: bytes, entries and depth of a workspace, and the size of
// a package cache. Also keeps a reserve of free space for all other users of the file system.
//
// One thread only checks the free space, ten times a second. Another thread counts the deleted files that are still
// open, up to a limit of mappings and descriptors above which the command is terminated. A third thread walks through
// the directories, each of them about every second and at least every few seconds. A walk starts earlier if the free
// space has decreased by more than the workspace may still grow. A command can exceed a limit between two checks;
// final_measurement() measures again after the command.
//
// A workspace that is already above a limit keeps its content: commands that remove files can run, and a command that
// makes it larger is terminated.
//
// Thread: all functions from any thread; `terminate` is called on the threads of this object.
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

// uncounted: the command has too many mappings or descriptors to find its deleted files.
enum class disk_verdict { none, bytes, files, depth, cache, space, uncounted };

struct disk_command {
  pid_t leader = -1;
  unique_fd workspace{};  // no descriptor: not measured
  std::string project{};
  std::string account{};  // the reserve considers the commands of an account together
  std::uint64_t max_bytes = UINT64_MAX, max_files = UINT64_MAX;
  unique_fd cache{};  // no descriptor: not measured
  std::uint64_t cache_bytes = 0;
  std::function<void()> terminate{};  // must not block; called at most once
};

class disk_watch {
 public:
  // Called with the free space in bytes, after each check while commands run. enough: false below the reserve. [its
  // thread]
  using space_observer = std::function<void(std::uint64_t free_bytes, bool enough)>;

  struct space {
    std::uint64_t bytes = UINT64_MAX;
    bool enough = true;  // false: below the reserve of space or inodes, so a command that writes must not start
  };
  using space_reader = std::function<space()>;

  // read: replaces the query of the file system in tests.
  explicit disk_watch(std::uint64_t reserve_bytes, space_observer observe = {}, space_reader read = {})
      : reserve_bytes_(reserve_bytes), observe_(std::move(observe)), read_(std::move(read)) {}
  ~disk_watch();
  disk_watch(const disk_watch&) = delete;
  disk_watch& operator=(const disk_watch&) = delete;

  // Sets a directory on the file system to which the reserve applies. To be called before the other functions.
  void set_directory(std::string directory) { directory_ = std::move(directory); }
  // Blocks only on statvfs().
  space free_space() const;

  void add(const void* key, disk_command command);
  disk_verdict verdict_on(const void* key) const;
  // After the command: measures its workspace for the last time, removes directories that are too deep, and returns the
  // verdict. `use`: the size of the workspace. Blocks; not on an event loop.
  disk_verdict final_measurement(const void* key, disk::tree_use& use);
  // After final_measurement(): whether the workspace exceeds its limits by so much that it must be emptied; if the
  // command was terminated for the reserve, whether it exceeds them at all. Without this, a series of commands, each of
  // which exceeds the limits a little before it is terminated, could make a workspace ever larger.
  bool is_far_over(const void* key) const;
  // After it returns, `terminate` is no longer called.
  void remove(const void* key);
  // To be called when the server itself writes into the workspace.
  void record_write(const std::string& project, std::uint64_t bytes);
  // The account of the project's last command, or the project itself if the account is unknown.
  std::string account_of(const std::string& project) const;
  // To be called when the workspace is removed.
  void forget(const std::string& project);

 private:
  using clock = std::chrono::steady_clock;
  struct entry {
    disk_command command;
    disk_verdict outcome = disk_verdict::none;
    std::mutex measuring;  // one walk at a time; protects `first`
    std::optional<disk::tree_use> first;
    // Protected by mutex_.
    disk::tree_use last{};
    std::uint64_t unlinked = 0, unlinked_cache = 0, written = 0, grown = 0;
    std::uint64_t free_at_walk = 0;
    disk::tree_use tolerated{UINT64_MAX, UINT64_MAX, false, false};
    bool far_over = false;
    clock::time_point next_walk{}, next_unlinked{}, may_walk{};
  };
  using entry_ptr = std::shared_ptr<entry>;

  // Calls `check` after each interval in which there are commands, until the destructor runs.
  void run_each_interval(const std::function<void(const std::map<const void*, entry_ptr>&)>& check);
  void walk_loop();
  void check_commands(const std::map<const void*, entry_ptr>& all);
  void check_space(const std::map<const void*, entry_ptr>& all);
  void terminate_for_space(const std::map<const void*, entry_ptr>& all, std::uint64_t free_bytes);
  bool is_over(const entry& e) const;
  disk_verdict walk(entry& e);
  void record_end(entry& e, const disk::tree_use& use, bool measured);
  void terminate(const void* key, const entry_ptr& e, disk_verdict why);

  const std::uint64_t reserve_bytes_;
  const space_observer observe_;
  const space_reader read_;
  std::string directory_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<const void*, entry_ptr> entries_;
  // A project after its last command. tolerated: the size that the project may keep although a limit is lower; it never
  // grows.
  struct project_state {
    disk::tree_use use, tolerated;
    std::string account;
  };
  std::map<std::string, project_state> projects_;
  bool stopping_ = false;
  // Used only by space_thread_: the last termination for the reserve.
  clock::time_point next_termination_{};
  std::uint64_t free_at_termination_ = UINT64_MAX;
  std::thread space_thread_, files_thread_, walk_thread_;
};

}  // namespace bubblewrap

// Manages the disk space of the workspaces: the reserve of free space, the removal of workspaces, and metrics and
// warnings for both. disk_watch measures the commands.
//
// Thread: any. Lifetime: as long as the driver. start() must be called before the other functions.
#pragma once
#include <cstdint>
#include <optional>
#include <ry/ry.hpp>
#include <string>

#include "common/tree_cleaner.hpp"
#include "common/warning_pace.hpp"
#include "disk_threads.hpp"
#include "disk_watch.hpp"
#include "workspace.hpp"

namespace bubblewrap {

class disk_guard {
 public:
  disk_guard(const ry::context& ctx, std::uint64_t reserve_bytes);
  // `root`: the directory of the workspaces.
  void start(const std::string& root);

  disk_watch& watch() { return watch_; }
  // Threads for the final measurement of a command and for destroy().
  disk_threads& threads() { return threads_; }
  // RY_RESOURCE_EXHAUSTED below the reserve.
  file_error check_space();
  // Like check_space(), before the server itself writes `bytes` into a workspace.
  file_error before_write(const std::string& project, std::uint64_t bytes);
  // Makes the name `path` available immediately, then removes the workspace. Blocks. After an error, some content
  // remains.
  file_error destroy(const std::string& project, const std::string& path);

  void count(disk_verdict found) const;

 private:
  void observe(std::uint64_t free_bytes, bool enough) noexcept;

  const ry::context& ctx_;
  disk_watch watch_;
  std::optional<disk::tree_cleaner> cleaner_;
  ry::metric free_bytes_, refused_;
  ry::metric bytes_, files_, depth_, cache_, space_;  // terminated commands
  logging::warning_pace warnings_;
  disk_threads threads_;  // last: its threads use the other members
};

}  // namespace bubblewrap

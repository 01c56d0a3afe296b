// Disk space of the workspaces as the driver in module.cpp needs it: the reserve of free space, the removal of workspaces,
// and what an operator sees of both. Commands are watched by disk_watch.
//
// Thread: any. Lifetime: as long as the driver; start() comes before all else but the constructor.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <ry/ry.hpp>
#include <string>

#include "common/tree_cleaner.hpp"
#include "disk_watch.hpp"
#include "workspace.hpp"

namespace bubblewrap {

class disk_guard {
 public:
  disk_guard(const ry::context& ctx, std::uint64_t reserve_bytes);
  // `root`: the directory of the workspaces.
  void start(const std::string& root);

  disk_watch& watch() { return watch_; }
  // RY_RESOURCE_EXHAUSTED below the reserve.
  file_error check_space();
  // The same for `bytes` that the server itself writes into a workspace.
  file_error before_write(const std::string& project, std::uint64_t bytes);
  // Frees the name `path` at once and removes what was there. Blocks; an error says that not everything is removed yet.
  file_error destroy(const std::string& project, const std::string& path);

  void count_memory() const { memory_.add(); }
  void count_time() const { time_.add(); }
  void count(disk_verdict found) const;

 private:
  void observe(std::uint64_t free_bytes, bool enough) noexcept;

  const ry::context& ctx_;
  disk_watch watch_;
  std::optional<disk::tree_cleaner> cleaner_;
  ry::metric free_bytes_, refused_;
  ry::metric memory_, time_, bytes_, files_, depth_, cache_, space_;  // commands that were ended
  std::atomic<std::int64_t> warned_ms_{0};
};

}  // namespace bubblewrap

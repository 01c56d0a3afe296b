#include "disk_guard.hpp"

#include <chrono>
#include <cstring>

#include "beneath.hpp"
#include "command_metrics.hpp"

namespace bubblewrap {
namespace {

constexpr auto max_guard_removal_time = std::chrono::seconds(10);

}  // namespace

disk_guard::disk_guard(const ry::context& ctx, std::uint64_t reserve_bytes)
    : ctx_(ctx),
      watch_(reserve_bytes, [this](std::uint64_t free_bytes, bool enough) { observe(free_bytes, enough); }),
      threads_(ctx) {
  free_bytes_ = ctx.metrics().gauge("disk_free_bytes",
                                    "Free space of the file system with the workspaces, as of the last command");
  refused_ = refused_counter(ctx, "disk_space");
  bytes_ = ended_counter(ctx, "workspace_bytes");
  files_ = ended_counter(ctx, "workspace_files");
  depth_ = ended_counter(ctx, "workspace_depth");
  cache_ = ended_counter(ctx, "cache_bytes");
  space_ = ended_counter(ctx, "disk_space");
}

void disk_guard::start(const std::string& root) {
  watch_.set_directory(root);
  // In the same directory, so that it is on the same file system. No project has this name.
  cleaner_.emplace(ctx_, root + "/.removed");
  cleaner_->start();
}

void disk_guard::observe(std::uint64_t free_bytes, bool enough) noexcept {
  free_bytes_.set(static_cast<double>(free_bytes));
  if (enough || !warnings_.due()) return;
  (void)ry::guard([&] {
    ctx_.warn(
        "the disk with the workspaces is nearly full: commands are terminated and refused until "
        "space is freed or sandbox_bubblewrap.min_free_mb is lowered",
        {{"free_mb", free_bytes >> 20}});
  });
}

file_error disk_guard::check_space() {
  const disk_watch::space now = watch_.free_space();
  if (now.enough) return {};
  refused_.add();
  observe(now.bytes, false);
  return fail(RY_RESOURCE_EXHAUSTED, "the server's disk is nearly full");
}

file_error disk_guard::before_write(const std::string& project, std::uint64_t bytes) {
  if (file_error error = check_space()) return error;
  watch_.record_write(project, bytes);
  return {};
}

file_error disk_guard::destroy(const std::string& project, const std::string& path) {
  watch_.forget(project);
  const disk::removal done = cleaner_->remove(path, project, max_guard_removal_time);
  if (done.complete()) return {};
  if (done.error == 0) return fail(RY_UNAVAILABLE, "the workspace is large; it is deleted in the background");
  return fail(RY_UNAVAILABLE, "the workspace could not be deleted yet: " + std::string(std::strerror(done.error)));
}

void disk_guard::count(disk_verdict found) const {
  switch (found) {
    case disk_verdict::none:
      return;
    case disk_verdict::bytes:
    case disk_verdict::uncounted:
      return bytes_.add();
    case disk_verdict::files:
      return files_.add();
    case disk_verdict::depth:
      return depth_.add();
    case disk_verdict::cache:
      return cache_.add();
    case disk_verdict::space:
      return space_.add();
  }
}

}  // namespace bubblewrap

#include "tree_cleaner.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace disk {
namespace {

// Time limit of one blocking operation; a shutdown waits no longer than this.
constexpr auto max_blocking = std::chrono::seconds(2);
constexpr auto min_pause = std::chrono::milliseconds(200);

}  // namespace

tree_cleaner::tree_cleaner(const ry::context& ctx, std::string directory)
    : ctx_(ctx),
      trees_(std::move(directory)),
      waiting_(ctx.metrics().gauge("quarantined_trees", "Directories of deleted data that are still on the disk")),
      failures_(
          ctx.metrics().counter("removal_failures_total", "Failed attempts to remove deleted data from the disk")) {}

int tree_cleaner::dispose(const std::string& path, std::string_view label) {
  const int error = trees_.move_in(path, label);
  if (error != 0) {
    failures_.add();
    ctx_.warn("deleted data cannot be moved to quarantine; remove the directory manually",
              {{"directory", path}, {"cause", std::string_view(std::strerror(error))}});
  }
  wake();
  return error;
}

removal tree_cleaner::remove(const std::string& path, std::string_view label, std::chrono::milliseconds max_time) {
  const stop_condition stop = stop_after(max_time);
  removal out;
  // A tree that cannot be moved, e.g. because it is a mount point, is removed in place.
  if (trees_.move_in(path, label) != 0) out = remove_tree(path, stop);
  const removal waiting = trees_.clear(label, stop);
  if (out.error == 0) out.error = waiting.error;
  out.stopped = out.stopped || waiting.stopped;
  if (out.error != 0) failures_.add();
  if (!out.complete()) wake();
  return out;
}

void tree_cleaner::wake() {
  if (working_.exchange(true)) return;
  if (!ctx_.spawn(work())) working_ = false;
}

ry::task<void> tree_cleaner::work() {
  struct report {
    std::vector<quarantine::failure> failures;
    std::size_t remaining = 0;
    std::optional<quarantine::clock::time_point> next;
  };
  for (;;) {
    const report done = co_await ctx_.run_blocking([this] {
      report r;
      r.failures = trees_.clear_due(quarantine::clock::now(), stop_after(max_blocking));
      r.remaining = trees_.size();
      r.next = trees_.next_attempt();
      return r;
    });
    waiting_.set(static_cast<double>(done.remaining));
    for (const quarantine::failure& f : done.failures) log_error(f);
    if (!done.next) {
      working_ = false;
      // A tree that was added in the meantime did not start another task, because this one was still marked as working.
      const bool empty = co_await ctx_.run_blocking([this] { return trees_.size() == 0; });
      if (empty || working_.exchange(true)) co_return;
      continue;
    }
    const auto pause = std::max<quarantine::clock::duration>(*done.next - quarantine::clock::now(), min_pause);
    // Sleeps in short steps, so that a new tree does not wait for the backoff of another one.
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::min<quarantine::clock::duration>(pause, max_blocking));
    const ry::result<void> slept = co_await ctx_.sleep(static_cast<std::uint64_t>(ms.count()));
    if (!slept) co_return;
  }
}

void tree_cleaner::log_error(const quarantine::failure& of) {
  failures_.add();
  // Logs attempts 1, 2, 4, 8 and so on, so that a permanent failure does not flood the log.
  if ((of.attempts & (of.attempts - 1)) != 0) return;
  ctx_.warn(
      "a deleted directory cannot be removed from the disk; the server retries. If this warning repeats, remove the directory manually",
      {{"directory", trees_.directory() + "/" + of.name},
       {"attempts", of.attempts},
       {"cause", std::string_view(std::strerror(of.error))}});
}

}  // namespace disk

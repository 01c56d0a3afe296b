#include "workspace/workspace_sweep.hpp"

#include <string>
#include <utility>
#include <vector>

namespace runs {
namespace {

constexpr std::uint64_t first_sweep_ms = 1000;  // drivers are loaded after this module
constexpr std::uint64_t sweep_interval_ms = 30 * 1000;
constexpr int looks_per_sweep = 20;

}  // namespace

void workspace_sweep::start() {
  (void)ctx_.spawn(watch(), ctx_.pick_exec());
}

ry::task<void> workspace_sweep::watch() {
  std::uint64_t pause = first_sweep_ms;
  for (int look = 0;; ++look) {
    const ry::result<void> slept = co_await ctx_.sleep(std::exchange(pause, sweep_interval_ms));
    if (!slept) co_return;
    try {
      if (look % looks_per_sweep == 0) co_await sweep();
      co_await sweep_noted();
    } catch (const ry::error& e) {
      ctx_.log_error("the workspaces of deleted projects could not be listed", e);
    }
  }
}

ry::task<void> workspace_sweep::sweep() {
  std::vector<std::string> here = co_await workspaces_.local_projects();
  // After a failure, the next sweep repeats it.
  (void)co_await workspaces_.rows().note_node(workspaces_.node(), here);
  if (here.empty()) co_return;
  ry::result<std::vector<std::string>> gone = co_await workspaces_.rows().deleted_of(std::move(here));
  if (!gone) co_return;
  for (const std::string& project : *gone) co_await remove(project);
}

ry::task<void> workspace_sweep::sweep_noted() {
  ry::result<std::vector<std::string>> gone = co_await workspaces_.rows().deleted_copies(workspaces_.node());
  if (!gone) co_return;
  for (const std::string& project : *gone) co_await remove(project);
}

ry::task<void> workspace_sweep::remove(std::string project) {
  const auto driver = sandboxes_.in_use();
  if (!driver) co_return;
  const ry::result<void> removed = co_await workspaces_.remove(driver, project);
  if (!removed) ctx_.log_error("a workspace could not be removed", removed.error());  // the next sweep tries again
}

}  // namespace runs

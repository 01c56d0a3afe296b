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
  (void)context_.ctx.spawn(watch(), context_.ctx.pick_exec());
}

ry::task<void> workspace_sweep::watch() {
  std::uint64_t pause = first_sweep_ms;
  for (int look = 0;; ++look) {
    const ry::result<void> slept = co_await context_.ctx.sleep(std::exchange(pause, sweep_interval_ms));
    if (!slept) co_return;
    try {
      if (look % looks_per_sweep == 0) co_await sweep();
      co_await sweep_noted();
    } catch (const ry::error& e) {
      context_.ctx.log_error("the workspaces of deleted projects could not be listed", e);
    }
  }
}

ry::task<void> workspace_sweep::sweep() {
  std::vector<std::string> here = co_await context_.workspaces.local_projects();
  // After a failure, the next sweep repeats it.
  (void)co_await context_.workspaces.rows().note_node(context_.workspaces.node(), here);
  if (here.empty()) co_return;
  ry::result<std::vector<std::string>> gone = co_await context_.workspaces.rows().deleted_of(std::move(here));
  if (!gone) co_return;
  for (const std::string& project : *gone) co_await remove(project);
}

ry::task<void> workspace_sweep::sweep_noted() {
  ry::result<std::vector<std::string>> gone =
      co_await context_.workspaces.rows().deleted_copies(context_.workspaces.node());
  if (!gone) co_return;
  for (const std::string& project : *gone) co_await remove(project);
}

ry::task<void> workspace_sweep::remove(std::string project) {
  const auto driver = context_.sandbox();
  if (!driver) co_return;
  const ry::result<void> removed = co_await context_.workspaces.remove(driver, project);
  if (!removed)
    context_.ctx.log_error("a workspace could not be removed", removed.error());  // the next sweep tries again
}

}  // namespace runs

#include "workspace_sweep.hpp"

namespace runs {
namespace {

constexpr std::uint64_t first_sweep_ms = 1000;  // drivers come after this module
constexpr std::uint64_t between_sweeps_ms = 10 * 60 * 1000;

}  // namespace

void workspace_sweep::start() { (void)parts_.ctx.spawn(watch(), parts_.ctx.pick_exec()); }

ry::task<void> workspace_sweep::watch() {
  for (std::uint64_t pause = first_sweep_ms;; pause = between_sweeps_ms) {
    const ry::result<void> slept = co_await parts_.ctx.sleep(pause);
    if (!slept) co_return;
    try {
      co_await sweep();
    } catch (const ry::error& e) {
      parts_.ctx.complain("the workspaces of deleted projects could not be listed", e);
    }
  }
}

ry::task<void> workspace_sweep::sweep() {
  std::vector<std::string> here = co_await parts_.keeper.local_projects();
  if (here.empty()) co_return;
  ry::result<std::vector<std::string>> gone = co_await parts_.keeper.rows().deleted_of(std::move(here));
  if (!gone) co_return;  // the next one sees them
  for (const std::string& project : *gone) co_await remove(project);
}

ry::task<void> workspace_sweep::remove(std::string project) {
  const auto driver = parts_.sandbox();
  if (!driver) co_return;
  const ry::result<void> removed = co_await parts_.keeper.remove(driver, project);
  if (!removed) parts_.ctx.complain("a workspace could not be removed", removed.error());  // the next sweep tries again
}

}  // namespace runs

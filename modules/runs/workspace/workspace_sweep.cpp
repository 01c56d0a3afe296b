#include "workspace/workspace_sweep.hpp"

#include <string>
#include <utility>
#include <vector>

namespace runs {
namespace {

constexpr std::uint64_t first_sweep_ms = 1000;  // drivers are loaded after this module
constexpr std::uint64_t sweep_interval_ms = 30 * 1000;
constexpr int checks_per_sweep = 20;

}  // namespace

void workspace_sweep::start() {
  (void)ctx_.spawn(sweep_loop(), ctx_.pick_exec());
}

ry::task<void> workspace_sweep::sweep_loop() {
  std::uint64_t pause = first_sweep_ms;
  for (int check = 0;; ++check) {
    const ry::result<void> slept = co_await ctx_.sleep(std::exchange(pause, sweep_interval_ms));
    if (!slept) co_return;
    try {
      if (check % checks_per_sweep == 0) co_await sweep();
      co_await sweep_recorded();
    } catch (const ry::error& e) {
      ctx_.log_error("the workspaces of deleted projects could not be listed", e);
    }
  }
}

ry::task<void> workspace_sweep::sweep() {
  std::vector<std::string> projects = co_await workspaces_.local_projects();
  // If this fails, the next sweep repeats it.
  (void)co_await workspaces_.rows().record_node(workspaces_.node(), projects);
  if (projects.empty()) co_return;
  ry::result<std::vector<std::string>> deleted = co_await workspaces_.rows().deleted_of(std::move(projects));
  if (!deleted) co_return;
  for (const std::string& project : *deleted) co_await remove(project);
}

ry::task<void> workspace_sweep::sweep_recorded() {
  ry::result<std::vector<std::string>> deleted = co_await workspaces_.rows().deleted_copies(workspaces_.node());
  if (!deleted) co_return;
  for (const std::string& project : *deleted) co_await remove(project);
}

ry::task<void> workspace_sweep::remove(std::string project) {
  const auto driver = sandboxes_.in_use();
  if (!driver) co_return;
  const ry::result<void> removed = co_await workspaces_.remove(driver, project);
  if (!removed) ctx_.log_error("a workspace could not be removed", removed.error());  // the next sweep retries
}

}  // namespace runs

#include "workspace/run_workspace.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "agent/model_call.hpp"
#include "workspace/workspace_store.hpp"

namespace runs {

namespace {

constexpr std::string_view replaced_note =
    "[The workspace was removed or replaced from outside during this run: changes since the last step are lost.]";

}  // namespace

ry::task<ry::result<void>> ensure_workspace(module_context& p, std::shared_ptr<live_run> run) {
  if (run->progress.files) co_return ry::result<void>();
  const auto driver = p.sandbox();
  if (!driver) co_return ry::unavailable("runs.no_sandbox", "no sandbox driver is loaded");
  ry::result<std::int64_t> version = co_await p.repo.mark_sandbox(run->who.project, p.ctx.new_uuid());
  if (!version) co_return version.error();
  workspace_store::open_options want;
  want.version = *version;
  ry::result<workspace_ptr> files =
      co_await p.workspaces.open(driver, run->who.project.to_string(), std::move(want), run->exec);
  if (!files) co_return files.error();
  run->progress.files = *files;
  co_return ry::result<void>();
}

ry::task<void> keep_files(module_context& p, std::shared_ptr<live_run> run, std::string& note) {
  const workspace_fence fence{run->who.job, run->who.fence};
  const std::function<bool()> urgent = [run] { return run->stop.must_break(); };
  const workspace_ptr files = run->progress.files;
  if (!files) {  // another call of the same answer found it replaced
    note = replaced_note;
    co_return;
  }
  const workspace_limits limits = co_await p.quota.limits(run->who.account);
  for (std::uint64_t pause = 100;; pause = std::min<std::uint64_t>(pause * 2, 5000)) {
    const auto driver = p.sandbox();
    if (!driver) co_return;
    ry::result<workspace_store::kept> kept =
        co_await p.workspaces.keep(driver, files, fence, limits, run->who.account.to_string(), urgent, run->exec);
    if (kept) {
      if (!kept->ours) run->stop.interrupt(RY_REASON_LEASE_LOST);
      note = kept->note;
      co_return;
    }
    p.ctx.log_error("the files of a workspace could not be kept", kept.error());
    if (kept.error().is("runs.workspace_replaced")) {
      if (run->progress.files == files) run->progress.files.reset();  // the next call restores it from the database
      note = replaced_note;
      co_return;
    }
    const ry_status st = kept.status();
    const bool passes = st == RY_UNAVAILABLE || st == RY_DEADLINE_EXCEEDED || st == RY_ABORTED;
    if (!passes || run->stop.must_break()) co_return;
    co_await interruptible_sleep(p.ctx, run, pause);
  }
}

}  // namespace runs

#include "workspace/run_workspace.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "account_limits.hpp"
#include "run/waiting.hpp"
#include "text.hpp"

namespace runs {

namespace {

constexpr std::string_view replaced_note =
    "[The workspace was removed or replaced from outside during this run: changes since the last step are lost.]";

}  // namespace

ry::task<ry::result<void>> run_workspace::ensure(std::shared_ptr<live_run> run) const {
  if (run->progress.files) co_return ry::result<void>();
  const auto driver = sandboxes_.in_use();
  if (!driver) co_return ry::unavailable("runs.no_sandbox", "no sandbox driver is loaded");
  ry::result<std::int64_t> version = co_await repo_.mark_sandbox(run->who.project, ctx_.new_uuid());
  if (!version) co_return version.error();
  workspace_store::open_options options;
  options.version = *version;
  ry::result<workspace_ptr> files =
      co_await workspaces_.open(driver, run->who.project.to_string(), std::move(options), run->exec);
  if (!files) co_return files.error();
  run->progress.files = *files;
  co_return ry::result<void>();
}

ry::task<ry::result<void>> run_workspace::write(std::shared_ptr<live_run> run, std::string path,
                                                std::string_view bytes) const {
  const auto driver = sandboxes_.in_use();
  if (!driver) co_return ry::unavailable("runs.no_sandbox", "the sandbox is not available");
  const std::string project = run->who.project.to_string();
  const workspace_limits limits = co_await quota_.limits(run->who.account);
  // A small file occupies at least one block.
  const std::int64_t size = static_cast<std::int64_t>(std::max<std::size_t>(bytes.size(), 4096));
  const ry::database db(ctx_);
  ry::result<ry::rows> room = co_await db.query(
      "select runs.take_space($1::uuid, $2::uuid, $3::uuid, $4::bigint, $5::bigint, $6::bigint)", run->who.account,
      run->who.project, workspaces_.node(), size, limits.account_bytes, limits.account_files);
  if (!room) co_return room.error();
  if (!room->front().boolean(0)) {
    ry::result<ry::rows> full = co_await db.query(
        "select sum(files) >= $3::bigint from runs.workspace_copies where account_id = $1::uuid and node = $2::uuid",
        run->who.account, workspaces_.node(), limits.account_files);
    count_workspace_limit(ctx_, full && full->front().boolean(0) ? "account_files" : "account_bytes");
    co_return ry::error(RY_RESOURCE_EXHAUSTED, "runs.account_space",
                        "the workspaces of your account are full (" +
                            size_text(static_cast<std::uint64_t>(limits.account_bytes)) + ", " +
                            std::to_string(limits.account_files) + " files): delete files first");
  }
  co_return co_await ry::call_done([&](ry_exec* exec, ry_done d) {
    return driver->table->write_file(driver->self, ry::str(project), ry::str(path), ry::raw(bytes), exec, d);
  });
}

ry::task<void> run_workspace::keep(std::shared_ptr<live_run> run, std::string& note) const {
  const workspace_fence fence{run->who.job, run->who.fence};
  const std::function<bool()> urgent = [run] { return run->stop.must_break(); };
  const workspace_ptr files = run->progress.files;
  if (!files) {  // another call of the same response found that the workspace was replaced
    note = replaced_note;
    co_return;
  }
  const workspace_limits limits = co_await quota_.limits(run->who.account);
  for (std::uint64_t pause = 100;; pause = std::min<std::uint64_t>(pause * 2, 5000)) {
    const auto driver = sandboxes_.in_use();
    if (!driver) co_return;
    ry::result<workspace_store::kept> kept =
        co_await workspaces_.keep(driver, files, fence, limits, run->who.account.to_string(), urgent, run->exec);
    if (kept) {
      if (!kept->ours) run->stop.interrupt(RY_REASON_LEASE_LOST);
      note = kept->note;
      co_return;
    }
    ctx_.log_error("the files of a workspace could not be stored", kept.error());
    if (kept.error().is("runs.workspace_replaced")) {
      if (run->progress.files == files) run->progress.files.reset();  // the next call restores it from the database
      note = replaced_note;
      co_return;
    }
    const ry_status st = kept.status();
    const bool transient = st == RY_UNAVAILABLE || st == RY_DEADLINE_EXCEEDED || st == RY_ABORTED;
    if (!transient || run->stop.must_break()) co_return;
    co_await interruptible_sleep(ctx_, run, pause);
  }
}

}  // namespace runs

#include "workspace/workspace_write.hpp"

#include <algorithm>

#include "ry/ext/sandbox_driver.h"
#include "start/account_limits.hpp"
#include "text.hpp"

namespace runs {

ry::task<ry::result<void>> write_workspace_file(module_context& p, std::shared_ptr<live_run> run, std::string path,
                                                std::string_view bytes) {
  const auto driver = p.sandbox();
  if (!driver) co_return ry::unavailable("runs.no_sandbox", "the sandbox is not available");
  const std::string project = run->who.project.to_string();
  const workspace_limits limits = co_await p.quota.limits(run->who.account);
  // A small file takes a whole block.
  const std::int64_t size = static_cast<std::int64_t>(std::max<std::size_t>(bytes.size(), 4096));
  const ry::database db(p.ctx);
  ry::result<ry::rows> room = co_await db.query(
      "select runs.take_space($1::uuid, $2::uuid, $3::uuid, $4::bigint, $5::bigint, $6::bigint)", run->who.account,
      run->who.project, p.workspaces.node(), size, limits.account_bytes, limits.account_files);
  if (!room) co_return room.error();
  if (!room->front().boolean(0)) {
    ry::result<ry::rows> full = co_await db.query(
        "select sum(files) >= $3::bigint from runs.workspace_copies where account_id = $1::uuid and node = $2::uuid",
        run->who.account, p.workspaces.node(), limits.account_files);
    count_workspace_limit(p.ctx, full && full->front().boolean(0) ? "account_files" : "account_bytes");
    co_return ry::error(RY_RESOURCE_EXHAUSTED, "runs.account_space",
                        "the workspaces of your account are full (" +
                            size_text(static_cast<std::uint64_t>(limits.account_bytes)) + ", " +
                            std::to_string(limits.account_files) + " files): delete files first");
  }
  co_return co_await ry::call_done([&](ry_exec* exec, ry_done d) {
    return driver->table->write_file(driver->self, ry::str(project), ry::str(path), ry::raw(bytes), exec, d);
  });
}

}  // namespace runs

// The functions of sandbox.driver/1 for the files of workspaces. Each runs on a blocking thread and completes on the
// executor of the call. Thread: any. Lifetime: must outlive its calls.
#pragma once
#include <ry/ext/sandbox_driver.h>

#include <optional>
#include <ry/ry.hpp>
#include <string>

#include "disk_guard.hpp"
#include "project_users.hpp"
#include "workspace.hpp"

namespace bubblewrap {

class workspace_calls {
 public:
  workspace_calls(ry::context& ctx, const workspaces& files, disk_guard& disk, const project_users& users)
      : ctx_(ctx), files_(files), disk_(disk), users_(users) {}

  ry_status ensure(ry_str project, ry_exec* exec, ry_done done);
  ry_status read_file(ry_str project, ry_str path, std::uint64_t offset, std::uint64_t max_bytes, ry_exec* exec,
                      ry_sandbox_read_fn fn, void* ctx);
  ry_status open_file(ry_str project, ry_str path, ry_exec* exec, ry_sandbox_open_fn fn, void* ctx);
  ry_status write_file(ry_str project, ry_str path, ry_bytes content, ry_exec* exec, ry_done done);
  ry_status import_file(ry_str project, ry_str path, ry_str host_path, ry_exec* exec, ry_done done);
  ry_status list_files(ry_str project, ry_str path, ry_exec* exec, ry_sandbox_list_fn fn, void* ctx);
  ry_status destroy(ry_str project, ry_exec* exec, ry_done done);
  ry_status scan(ry_str project, std::uint64_t max_entries, ry_exec* exec, ry_sandbox_scan_fn fn, void* ctx);
  ry_status place(ry_str project, const ry_sandbox_entry* entry, ry_str host_path, ry_exec* exec, ry_done done);

  // Synchronous form of destroy(). Blocks.
  file_error destroy_workspace(const std::string& project) const;

 private:
  // With an account, `work` runs on the threads of disk_guard, scheduled fairly between accounts.
  template <class Work, class Finish>
  ry_status blocking(ry_exec* exec, Work work, Finish finish, const std::optional<std::string>& account = {});

  ry::context& ctx_;
  const workspaces& files_;
  disk_guard& disk_;
  const project_users& users_;
};

}  // namespace bubblewrap

// Workspace storage: stores workspaces in the database and synchronises this node's copies with it. See "Workspaces" in
// README.md.
//
// Threads: any; the operations on one workspace run on one executor, one at a time. Lifetime: the users of a workspace
// (live runs, starts) own it. The state of the copy is saved in a file, so that the next user need not read the
// contents again.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>
#include <unordered_map>

#include "ry/ext/sandbox_driver.h"
#include "settings/settings.hpp"
#include "workspace/workspace_repository.hpp"

namespace runs {

// This node's copy of one project's workspace. Its members belong to workspace_store.
class workspace {
 public:
  workspace(std::string project, ry_exec* exec) : project(std::move(project)), exec(exec) {}
  const std::string project;
  ry_exec* const exec;

 private:
  friend class workspace_store;
  bool busy_ = false;
  ry::signal free_;
  bool state_loaded_ = false;
  bool recorded_ = false;  // the database lists this copy
  bool must_discard_ = false;  // a worker that had lost its run changed the copy: its changes must not be stored
  workspace_state state_;
};
using workspace_ptr = std::shared_ptr<workspace>;

class workspace_store {
 public:
  using driver = ry::drivers<ry_sandbox_driver_v1>::entry;

  workspace_store(const ry::context& ctx, const settings& config) : ctx_(ctx), config_(config), rows_(ctx) {}
  // [lifecycle] Creates its directories in the server's data directory.
  void start();

  const workspace_repository& rows() const { return rows_; }
  // Whether the driver can place files. Otherwise, or without a driver, workspaces exist only on their node.
  static bool can_keep(const driver& d);

  struct open_options {
    std::int64_t version = 0;  // the current version in the database
    // The version before a change that this node made: local changes that are not stored yet are then preserved.
    // 0: this node made no change.
    std::int64_t before = 0;
    // Files of the host by workspace path: used instead of fetching them from the database.
    std::map<std::string, std::string> local_files;
  };
  // Opens the workspace: creates it if needed and updates it to the database's version. Resumes on `home`.
  ry::task<ry::result<workspace_ptr>> open(driver d, std::string project, open_options options, ry_exec* home);

  struct kept {
    bool ours = true;  // false: the run belongs to another worker
    std::string note;  // message for the agent about files that could not be stored; usually empty
  };
  // Stores the changes since the last call in the database, if the fence is still valid. `urgent`: returns true if the
  // run must end immediately; then only small changes are stored. Resumes on `home`. Fails with
  // "runs.workspace_replaced" if the directory was replaced since open(); the caller must then open it again.
  ry::task<ry::result<kept>> keep(driver d, workspace_ptr of, workspace_fence fence, workspace_limits limits,
                                  std::string account, std::function<bool()> urgent, ry_exec* home);

  // The version of this node's copy; nullopt if there is none or its version is unknown. [any]
  ry::task<std::optional<std::int64_t>> local_version(std::string project);
  // The id of this node's copies in the database; constant for the data directory.
  std::string node() const { return copies_id_; }
  // Whether the workspace is in use, or about to be. [any]
  bool is_open(const std::string& project);
  // The projects of which this node has copies.
  ry::task<std::vector<std::string>> local_projects();
  // Removes this node's copy of a deleted project, unless it is in use or the project exists again. A concurrent open()
  // waits, and then finds no old files. A failed removal can be retried.
  ry::task<ry::result<void>> remove(driver d, std::string project);

 private:
  struct scan_result {
    std::uint64_t root_inode = 0;
    std::int64_t root_made_ns = 0;
    std::int64_t begun_ns = 0;
    workspace_entries entries;
  };
  enum class local_changes { preserve, discard };

  // Returns the workspace if it is in use, otherwise a new one on `exec`.
  workspace_ptr find_or_create(const std::string& project, ry_exec* exec);
  // Waits for exclusive use and resumes on the workspace's executor; the caller switches back. Fails if the task is
  // cancelled.
  ry::task<ry::result<void>> lock(workspace& w);
  void unlock(workspace& w);
  ry::task<ry::result<void>> update_if_outdated(const driver& d, workspace& w, open_options options);
  ry::task<ry::result<void>> remove_copy(const driver& d, workspace& w);
  // Updates the copy to the database's version.
  ry::task<ry::result<void>> refresh(const driver& d, workspace& w, local_changes local,
                                     std::map<std::string, std::string> local_files);
  ry::task<ry::result<kept>> keep_changes(const driver& d, workspace& w, workspace_fence fence, workspace_limits limits,
                                          const std::string& account, std::function<bool()> urgent);
  // Loads the saved state of this copy, if it belongs to the present directory.
  ry::task<void> load_state(workspace& w, const scan_result& now);
  // Returns a message for the agent if the workspace exceeds a limit, otherwise an empty string.
  ry::task<ry::result<std::string>> find_excess(const workspace& w, const scan_result& now,
                                                const workspace_limits& limits, const std::string& account);
  ry::task<ry::result<scan_result>> scan(const driver& d, const workspace& w);
  ry::task<ry::result<std::string>> digest_file(const driver& d, const workspace& w, const std::string& account,
                                                const workspace_limits& limits, std::string path, std::uint64_t size,
                                                workspace_delta& delta,
                                                const std::function<bool(const std::string&)>& known, bool& incomplete);
  ry::task<ry::result<void>> fetch(const driver& d, const workspace& w, workspace_entries needed,
                                   std::map<std::string, std::string> local_files);
  ry::task<ry::result<void>> place(const driver& d, const workspace& w, std::string path, workspace_entry e,
                                   std::string host_path);
  ry::task<void> save_state(const workspace& w);
  std::string state_path(std::string_view project) const { return states_ + "/" + std::string(project); }

  const ry::context& ctx_;
  const settings& config_;
  const workspace_repository rows_;
  std::string states_, incoming_;
  std::string copies_id_ = std::string(ctx_.fact("node_id"));
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<workspace>> open_;
};

// BLAKE2b-256 in hexadecimal digits.
std::string digest_of(std::string_view bytes);

}  // namespace runs

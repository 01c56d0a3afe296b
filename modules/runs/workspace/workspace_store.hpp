// Workspace storage: stores workspaces in the database and synchronises this node's copies with it. See "Workspaces" in
// README.md.
//
// Threads: any; the work on one workspace runs on one executor, one operation at a time. Lifetime: the users of a
// workspace (live runs, starts) own it. The known state of the copy is kept in a file, so that the next user need not
// read the contents again.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>
#include <unordered_map>

#include "ry/ext/sandbox_driver.h"
#include "settings.hpp"
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
  bool known_ = false;  // state_ was read
  bool noted_ = false;  // the database knows of this copy
  bool foreign_ = false;  // changed by a worker that had lost its run: must not be stored
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
  // False: there is no driver, or it cannot place files; its workspaces then exist on their node only.
  static bool can_keep(const driver& d);

  struct open_options {
    std::int64_t version = 0;  // of the database, as just read
    // The version before a change that this node made: then changes on this node that are not stored yet are preserved.
    // 0: none.
    std::int64_t before = 0;
    // Files of the host by workspace path: used instead of fetching them from the database.
    std::map<std::string, std::string> at_hand;
  };
  // Opens the workspace: creates it if needed and updates it to the database's version. Resumes on `home`.
  ry::task<ry::result<workspace_ptr>> open(driver d, std::string project, open_options w, ry_exec* home);

  struct kept {
    bool ours = true;  // false: the run belongs to another worker
    std::string note;  // for the agent: what could not be stored; usually empty
  };
  // Stores the changes since the last call in the database, if the fence still holds. `urgent`: true if the run must end
  // at once; then only small changes are stored. Resumes on `home`. Fails with "runs.workspace_replaced" if the
  // directory was replaced since open(): open it again.
  ry::task<ry::result<kept>> keep(driver d, workspace_ptr of, workspace_fence fence, workspace_limits limits,
                                  std::string account, std::function<bool()> urgent, ry_exec* home);

  // The version of this node's copy; nullopt if there is none or its version is unknown. [any]
  ry::task<std::optional<std::int64_t>> local_version(std::string project);
  // The id of this node's copies in the database; constant for the data directory.
  std::string node() const { return holder_; }
  // The workspace is in use, or about to be. [any]
  bool is_open(const std::string& project);
  // The projects of which this node has copies.
  ry::task<std::vector<std::string>> local_projects();
  // Removes this node's copy of a deleted project, unless it is in use or the project exists again. A concurrent open()
  // waits and finds no old files. A failed removal may be repeated.
  ry::task<ry::result<void>> remove(driver d, std::string project);

 private:
  struct scan_result {
    std::uint64_t root_inode = 0;
    std::int64_t root_made_ns = 0;
    std::int64_t begun_ns = 0;
    workspace_entries entries;
  };
  enum class local_changes { stay, go };

  // The workspace in use, or a new one on `exec`.
  workspace_ptr share(const std::string& project, ry_exec* exec);
  // Waits for exclusive use, on the workspace's executor; the caller switches back. Fails if the task is cancelled.
  ry::task<ry::result<void>> lock(workspace& w);
  void unlock(workspace& w);
  ry::task<ry::result<void>> bring(const driver& d, workspace& w, open_options want);
  ry::task<ry::result<void>> remove_copy(const driver& d, workspace& w);
  ry::task<ry::result<void>> refresh(const driver& d, workspace& w, local_changes mine,
                                     std::map<std::string, std::string> at_hand);
  ry::task<ry::result<kept>> keep_changes(const driver& d, workspace& w, workspace_fence fence, workspace_limits limits,
                                          const std::string& account, std::function<bool()> urgent);
  // Loads the stored state of this copy if the directory is the same.
  ry::task<void> read_state(workspace& w, const scan_result& now);
  // Empty: the workspace is within its limits. Otherwise the reason, for the agent.
  ry::task<ry::result<std::string>> find_excess(const workspace& w, const scan_result& now,
                                                const workspace_limits& limits, const std::string& account);
  ry::task<ry::result<scan_result>> scan(const driver& d, const workspace& w);
  ry::task<ry::result<std::string>> digest_file(const driver& d, const workspace& w, const std::string& account,
                                                const workspace_limits& limits, std::string path, std::uint64_t size,
                                                workspace_delta& delta,
                                                const std::function<bool(const std::string&)>& known, bool& incomplete);
  ry::task<ry::result<void>> fetch(const driver& d, const workspace& w, workspace_entries wanted,
                                   std::map<std::string, std::string> at_hand);
  ry::task<ry::result<void>> place(const driver& d, const workspace& w, std::string path, workspace_entry e,
                                   std::string host_path);
  ry::task<void> save(const workspace& w);
  std::string state_path(std::string_view project) const { return states_ + "/" + std::string(project); }

  const ry::context& ctx_;
  const settings& config_;
  const workspace_repository rows_;
  std::string states_, incoming_;
  std::string holder_ = std::string(ctx_.fact("node_id"));
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<workspace>> open_;
};

// BLAKE2b-256 in hexadecimal digits.
std::string digest_of(std::string_view bytes);

}  // namespace runs

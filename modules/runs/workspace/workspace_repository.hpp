// The SQL of the stored workspaces; see migrations/0003_workspaces.sql. Statements are constant; functions return the
// result of the database.
#pragma once
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "workspace/workspace_state.hpp"

namespace runs {

// Chunks to store in the database, concatenated.
struct chunk_batch {
  std::vector<std::string> digests;
  std::vector<std::int64_t> sizes;
  std::string bytes;
  void add(std::string digest, std::string_view piece);
  bool empty() const { return digests.empty(); }
};

struct workspace_delta {
  std::vector<std::string> gone;  // paths of removed entries, not encoded
  workspace_entries changed;
  chunk_batch chunks;  // chunks that are not stored yet, except those that were passed to put()
};

struct workspace_fence {
  std::int64_t job = 0, fence = 0;
};

struct keep_result {
  std::string outcome, detail;  // of the SQL function keep_workspace
  std::int64_t version = 0, previous = 0;
};

struct workspace_limits {
  std::int64_t bytes = 0, files = 0;  // of one project
  std::int64_t account_bytes = 0, account_files = 0;  // of all projects of an account
};

struct workspace_usage {
  std::int64_t other_bytes = 0, other_files = 0;  // of the account's other projects, on this node's disk
  std::int64_t kept_bytes = 0, kept_files = 0;  // of all the account's projects, in the database
  std::int64_t project_bytes = 0, project_files = 0;  // of this project, in the database
};

struct workspace_manifest {
  std::int64_t version = 0;
  workspace_entries entries;
};

class workspace_repository {
 public:
  explicit workspace_repository(const ry::context& ctx) : db_(ctx) {}

  // Stores chunks before the files that refer to them. False: the account would then have more than `max_bytes` bytes
  // in chunks without a file.
  ry::task<ry::result<bool>> put(std::string account, std::string project, const chunk_batch& chunks,
                                 std::int64_t max_bytes) const;
  // Removes what put() stored for a project that was not created.
  ry::task<ry::result<void>> drop(std::string account, std::string project) const;
  // Stores the changes of a workspace. fence: nullopt for a change that is part of the transaction `in`.
  ry::task<ry::result<keep_result>> keep(std::string project, std::optional<workspace_fence> fence,
                                         const workspace_delta& delta, workspace_limits limits,
                                         ry::tx* in = nullptr) const;
  // nullopt: no such project.
  ry::task<ry::result<std::optional<workspace_manifest>>> manifest(std::string project) const;
  // The chunks by digest; missing chunks are skipped.
  ry::task<ry::result<std::map<std::string, std::string>>> chunks(std::string project,
                                                                  std::vector<std::string> digests) const;
  ry::task<ry::result<std::vector<std::string>>> upload_names(ry::tx& in, std::string project) const;
  // nullopt: no such entry.
  ry::task<ry::result<std::optional<workspace_entry>>> entry(std::string project, std::string path) const;
  // The entries of a directory by name; the path "" is the root of the workspace.
  ry::task<ry::result<workspace_entries>> directory(std::string project, std::string path) const;
  // Those of the given projects that are deleted.
  ry::task<ry::result<std::vector<std::string>>> deleted_of(std::vector<std::string> projects) const;
  // The usage of the account, including `project`, which need not exist yet.
  ry::task<ry::result<workspace_usage>> usage(std::string account, std::string project, std::string node) const;
  // Records that the node has, or is about to make, a copy of the project.
  ry::task<ry::result<void>> record_copy(std::string project, std::string node) const;
  // Stores the size of the copy on the node's disk.
  ry::task<ry::result<void>> record_size(std::string project, std::string node, std::int64_t bytes,
                                         std::int64_t files) const;
  // Records that the node no longer has a copy. When no node has one, the thread and files of the deleted project no
  // longer count towards the limits.
  ry::task<ry::result<void>> copy_removed(std::string project, std::string node) const;
  // The deleted projects of which the database lists copies on the node.
  ry::task<ry::result<std::vector<std::string>>> deleted_copies(std::string node) const;
  // Records that the node is alive and has copies of these projects.
  ry::task<ry::result<void>> record_node(std::string node, std::vector<std::string> projects) const;
  // Removes chunks without references, and records of projects of which no node has a copy.
  ry::task<ry::result<void>> prune() const;

 private:
  ry::database db_;
};

}  // namespace runs

// Stores the files of one start in the project's workspace: reads them from the host's spool, then names and stores
// them in the start's transaction, so that a failed start has no effect.
// Lifetime: one start; its members are awaited one after the other on the request's executor.
#pragma once
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "store/repository.hpp"
#include "workspace/sandbox_drivers.hpp"
#include "workspace/workspace_store.hpp"

namespace runs {

class upload_parser {
 public:
  // `limits`: of the account that makes the start.
  upload_parser(const ry::context& ctx, const sandbox_drivers& sandboxes, workspace_store& workspaces,
                std::string account, workspace_limits limits, const std::vector<ry::form_part>& files);

  // Whether the files have too many bytes for the start's transaction, so that read() must store them before it.
  bool is_large() const;
  // Reads the files. `project`: stores their bytes in the database, where nothing refers to them yet. Throws a refusal
  // if they would exceed a limit.
  ry::task<void> read(std::optional<std::string> project);
  // For a start that was refused or failed: removes the bytes that read() stored, if the project was not created.
  // Otherwise the bytes are removed an hour later.
  ry::task<void> discard(std::string project);
  // In the start's transaction: assigns the names and stores the files. Throws a refusal if the project would exceed a
  // limit. The records are in the order of the files.
  ry::task<std::vector<upload_record>> keep(ry::tx& in, std::string project);
  // After the commit: copies the files into this node's workspace. Without a driver, or if this fails, the files are
  // only in the database.
  ry::task<void> place(std::string project, ry_exec* home);

 private:
  struct file {
    std::string spool_path, sent_name, type;
    std::uint64_t size = 0;
    std::string chunks, path;
  };
  ry::task<std::vector<std::string>> local_names(std::string project);
  ry::task<void> check_limits(std::string project);
  ry::task<void> store_batch(const std::string& project);

  const ry::context& ctx_;
  const sandbox_drivers& sandboxes_;
  workspace_store& workspaces_;
  const std::string account_;
  const workspace_limits limits_;
  std::vector<file> files_;
  std::uint64_t total_ = 0;
  chunk_batch batch_;
  keep_result stored_;
};

// {"message", "limit", "error_code": "UPLOAD_TOO_LARGE"} with status 413.
[[noreturn]] void refuse_upload(std::int64_t limit, std::string message);

}  // namespace runs

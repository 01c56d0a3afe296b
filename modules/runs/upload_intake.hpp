// The files of one start on their way into the project's workspace: read from where the host spooled
// them, named and kept within the start's transaction, so that a start that fails leaves nothing.
// Lifetime: one start; its members are awaited one after the other on its request's executor.
#pragma once
#include <map>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "parts.hpp"

namespace runs {

class upload_intake {
 public:
  // `limits`: of the account that starts.
  upload_intake(parts& p, std::string account, workspace_limits limits, const std::vector<ry::form_part>& files);

  // Too many bytes to go along with keep(): they are put before its transaction.
  bool is_large() const;
  // Reads the files. `project`: their bytes are put into the database, where nothing refers to them yet. Throws a refusal
  // when they would not be taken.
  ry::task<void> read(std::optional<std::string> project);
  // In the transaction that starts the run: gives the names. Throws a refusal when the project would
  // grow too large. The records stand in the order of the files.
  ry::task<std::vector<upload_record>> keep(ry::tx& in, std::string project);
  // After the commit: this node's copy gets them. Without a driver, or when it fails, the database has them alone.
  ry::task<void> place(std::string project, ry_exec* home);

 private:
  struct file {
    std::string from, sent, type;
    std::uint64_t size = 0;
    std::string chunks, path;
  };
  ry::task<std::vector<std::string>> local_names(std::string project);
  ry::task<void> check_room(std::string project);

  parts& parts_;
  const std::string account_;
  const workspace_limits limits_;
  std::vector<file> files_;
  std::uint64_t total_ = 0;
  chunk_batch batch_;
  keep_answer kept_;
};

// {"message", "limit", "error_code": "UPLOAD_TOO_LARGE"} with status 413.
[[noreturn]] void refuse_upload(std::int64_t limit, std::string sentence);

}  // namespace runs

// Reads files of a workspace from the database, on a node that has no current copy.
#pragma once
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "workspace/workspace_repository.hpp"

namespace runs {

// Returns the entries of a directory in the format of sandbox.driver/1. Errors: RY_NOT_FOUND, RY_FAILED_PRECONDITION
// (not a directory).
ry::task<ry::result<std::string>> list_kept(const workspace_repository& rows, std::string project, std::string path);

struct kept_file {
  std::uint64_t size = 0;
  std::vector<std::string> digests;  // of the chunks, in order; replacing the file later does not change them
};
// Errors: RY_NOT_FOUND, RY_FAILED_PRECONDITION (not a file).
ry::task<ry::result<kept_file>> open_kept(const workspace_repository& rows, std::string project, std::string path);
// Reads from `at` to `end`, at most to the end of the chunk that contains `at`. RY_UNAVAILABLE if the file was replaced
// and the chunk is deleted.
ry::task<ry::result<std::string>> read_kept(const workspace_repository& rows, std::string project,
                                            const kept_file& file, std::uint64_t at, std::uint64_t end);

}  // namespace runs

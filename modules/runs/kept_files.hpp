// Files of a workspace as the database keeps them, for a node that has no copy of it or an older one.
#pragma once
#include <ry/ry.hpp>
#include <string>

#include "workspace_rows.hpp"

namespace runs {

// The entries of a directory in the form of sandbox.driver/1. RY_NOT_FOUND, RY_FAILED_PRECONDITION (not a
// directory).
ry::task<ry::result<std::string>> list_kept(const workspace_rows& rows, std::string project, std::string path);

struct kept_content {
  std::string bytes;
  std::uint64_t total = 0;
};
// At most `limit` bytes from `offset`. RY_NOT_FOUND, RY_FAILED_PRECONDITION (not a file).
ry::task<ry::result<kept_content>> read_kept(const workspace_rows& rows, std::string project, std::string path,
                                             std::uint64_t offset, std::uint64_t limit);

}  // namespace runs

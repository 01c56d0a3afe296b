// Finds a path of a workspace by the names that look like those of the path, directory by directory. Used after the exact path was not
// found.
#pragma once
#include <functional>
#include <ry/ry.hpp>
#include <string>

#include "parts.hpp"

namespace runs {

// The entries of a directory in the form of sandbox.driver/1.
using directory_lister = std::function<ry::task<ry::result<std::string>>(std::string directory)>;
directory_lister lister_of(ry::drivers<ry_sandbox_driver_v1>::entry driver, std::string project);

// What is looked for: an entry that is there, or a file that may be new, whose directory need not exist.
enum class path_use { existing, may_be_new };

// The path with the names as they are in the workspace. RY_NOT_FOUND; RY_FAILED_PRECONDITION with the names if several look alike.
ry::task<ry::result<std::string>> find_path(directory_lister list, std::string path, path_use use = path_use::existing);

}  // namespace runs

// Finds the workspace path whose names look like those of a given path, directory by directory. Used if the exact path
// does not exist.
#pragma once
#include <functional>
#include <ry/ry.hpp>
#include <string>

#include "ry/ext/sandbox_driver.h"

namespace runs {

// Returns the entries of a directory in the format of sandbox.driver/1.
using directory_lister = std::function<ry::task<ry::result<std::string>>(std::string directory)>;
directory_lister lister_of(ry::drivers<ry_sandbox_driver_v1>::entry driver, std::string project);

// existing: the entry must exist. may_be_new: the file, and also its directory, may be new.
enum class path_use { existing, may_be_new };

// Returns the path with the actual names in the workspace. Errors: RY_NOT_FOUND; RY_FAILED_PRECONDITION if several
// names look alike, with a message that lists them.
ry::task<ry::result<std::string>> find_path(directory_lister list, std::string path, path_use use = path_use::existing);

}  // namespace runs

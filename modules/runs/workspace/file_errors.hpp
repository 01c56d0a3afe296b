// Errors of requests for files of a workspace.
#pragma once
#include <ry/ry.hpp>
#include <string>
#include <string_view>

namespace runs {

inline ry::error no_such_file(std::string_view path) {
  return ry::error(RY_NOT_FOUND, "runs.file", "there is no file \"" + std::string(path) + "\"");
}

}  // namespace runs

// Helpers for the files and directories of the embedded PostgreSQL's cluster. They throw failure with a message for
// the operator. Any thread. Internal to core/db.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "core/db/spawn.hpp"

namespace ry::db::embedded {

// Returns the first `most` bytes of a file in the cluster; nullopt if it does not exist. Throws with `repair` and
// `reason` if it is not a regular file.
std::optional<std::string> first_bytes(const std::filesystem::path& file, std::size_t most, const std::string& repair,
                                       const char* reason);
std::string first_line(const std::string& text);

// The last few lines, joined into one line: programs print the reason of a failure there.
std::string tail(std::string text);
std::string tail_of(const std::filesystem::path& log);

// Creates the directory and its missing parents, and returns it.
std::filesystem::path make_dir(const std::filesystem::path& dir);
// Sets the permissions and, unless `user` is nullopt, the owner of a directory.
void own(const std::filesystem::path& dir, const std::optional<run_as>& user, mode_t mode);

}  // namespace ry::db::embedded

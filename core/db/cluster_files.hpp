// Files and directories of the embedded PostgreSQL's cluster. They throw failure with a message for
// the operator. Any thread. Internal to the room.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "core/db/spawn.hpp"

namespace ry::db::embedded {

// The first `most` bytes of a file in the cluster; nullopt if there is no such file. Refuses, with
// `repair` and `reason`, a file that is not a regular one.
std::optional<std::string> first_bytes(const std::filesystem::path& file, std::size_t most,
                                       const std::string& repair, const char* reason);
std::string first_line(const std::string& text);

// The last few lines, on one line: where programs say why they gave up.
std::string tail(std::string text);
std::string tail_of(const std::filesystem::path& log);

// The directory, after it and its parents were created where they were missing.
std::filesystem::path make_dir(const std::filesystem::path& dir);
// Sets the owner (nullopt: it stays) and the permissions of a directory.
void own(const std::filesystem::path& dir, const std::optional<run_as>& user, mode_t mode);

}  // namespace ry::db::embedded

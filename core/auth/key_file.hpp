// Secret key files of the host: created once, readable by their owner only.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace ry::auth {

// The content of `path`. A missing file is created (mode 0600) with the result of `make`; two processes that do so
// concurrently agree on one content. Blocks on the disk. Throws std::runtime_error with a message for the operator: the
// file cannot be read or created, is not a regular file, is accessible to group or others, or is too long.
std::string load_or_make_key_file(const std::filesystem::path& path, const std::function<std::string()>& make);

}  // namespace ry::auth

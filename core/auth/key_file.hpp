// Secret key files of the host: made once, readable by their owner only.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace ry::auth {

// The content of `path`; when the file is not there, it is made (mode 0600) with what `make`
// returns. Two processes that start at once agree on one content. Blocks on the disk. Throws
// std::runtime_error with a sentence: cannot be read or made, not a regular file, open to group or
// others, too long.
std::string load_or_make_key_file(const std::filesystem::path& path, const std::function<std::string()>& make);

}  // namespace ry::auth

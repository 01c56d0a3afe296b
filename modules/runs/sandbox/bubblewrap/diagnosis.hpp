// Explains why bubblewrap does not work on this system, and how the operator can fix it. Pure: uses the output of bwrap
// (0.8 and later) and facts about the system.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "surroundings.hpp"

namespace bubblewrap {

struct diagnosis {
  std::string cause;  // "the program /usr/bin/bwrap does not exist"; empty: unknown
  std::string fix;  // "Install ...", without a full stop
};

// `said`: output of a command that does nothing in the sandbox, or its exit code.
diagnosis diagnose(std::string_view said, const surroundings& here, const std::string& bwrap_path);

// For the log and /readyz.
std::string sentence(const diagnosis& found, std::string_view said);
// The message if the server cannot create a workspace, so that bubblewrap is not started.
std::string workspace_sentence(std::string_view error);

// At most `most` bytes of `text`, without a part of a UTF-8 character at the end.
std::string_view cut_utf8(std::string_view text, std::size_t most);

}  // namespace bubblewrap

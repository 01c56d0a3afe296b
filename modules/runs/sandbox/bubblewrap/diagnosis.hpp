// Why bubblewrap does not work on this system, and what the operator changes. Pure: from what bwrap
// said (0.8 and later) and facts of the system.
#pragma once

#include <string>
#include <string_view>

#include "surroundings.hpp"

namespace bubblewrap {

struct diagnosis {
  std::string cause;  // "the program /usr/bin/bwrap is not there"; empty: not known
  std::string fix;    // "Install ...", without a full stop
};

// `said`: output of a command that was to do nothing in the sandbox, or how it ended.
diagnosis diagnose(std::string_view said, const surroundings& here, const std::string& bwrap_path);

// For the log and /readyz.
std::string sentence(const diagnosis& found, std::string_view said);

}  // namespace bubblewrap

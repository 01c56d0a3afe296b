// Explains why bubblewrap does not work on this system, and how the operator can fix it. Pure: uses the output of bwrap
// (0.8 and later) and properties of the system.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "system_info.hpp"

namespace bubblewrap {

struct diagnosis {
  std::string cause;  // "the program /usr/bin/bwrap does not exist"; empty: unknown
  std::string fix;  // "Install ...", without a period at the end
};

// `output`: output of the probe's command in the sandbox, or its exit code.
diagnosis diagnose(std::string_view output, const system_info& system, const std::string& bwrap_path);
// The command did not exit within the limit.
diagnosis diagnose_timeout(std::chrono::seconds limit, const std::string& bwrap_path);
// The exit code was 0, but the command's output is missing or changed.
diagnosis diagnose_missing_marker(const std::string& bwrap_path, const std::string& exec_path);

// The message for the log and /readyz.
std::string message_of(const diagnosis& found, std::string_view output);
// The message if the server cannot create a workspace and therefore does not start bubblewrap.
std::string workspace_message(std::string_view error);

// The first `max_bytes` bytes of `text`, without an incomplete UTF-8 character at the end.
std::string_view truncate_utf8(std::string_view text, std::size_t max_bytes);

}  // namespace bubblewrap

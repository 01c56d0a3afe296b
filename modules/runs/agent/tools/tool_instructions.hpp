// Instructions of tool sources for the system prompt of runs that use them. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace runs {

struct tool_instructions {
  std::string source;  // as in its tools, "mcp:<server>"
  std::string text;
};

// The section that follows the agent's prompt: a heading, and the text of each source between tags with its name. The
// texts are truncated to `max_bytes` in total, with a note. Empty if no source has instructions.
std::string instructions_section(const std::vector<tool_instructions>& all, std::size_t max_bytes);

}  // namespace runs

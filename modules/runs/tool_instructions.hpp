// Instructions that sources of tools give for the system prompt of runs that use them. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace runs {

struct tool_instructions {
  std::string source;  // as the tools name it, "mcp:<server>"
  std::string text;
};

// What follows the agent's own prompt: a heading, and the text of each source between tags that name it. At most
// `max_bytes` of texts, cut with a note. Empty when no source has any.
std::string instructions_section(const std::vector<tool_instructions>& all, std::size_t max_bytes);

}  // namespace runs

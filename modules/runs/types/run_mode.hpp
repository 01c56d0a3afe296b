// The execution mode of a run, as given in the start request. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace runs {

// agent: with tools, the default. chat: without tools. code: with tools and instructions for working on software.
enum class run_mode { agent, chat, code };

// The mode with this name, case-insensitively; nullopt: unknown name.
std::optional<run_mode> run_mode_of(std::string_view name);
std::string_view name_of(run_mode mode);

// The agent's prompt, followed by the instructions if the mode is code.
std::string prompt_in_mode(std::string agent_prompt, run_mode mode, std::string_view code_instructions);

}  // namespace runs

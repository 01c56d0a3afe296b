#include "types/run_mode.hpp"

#include <iterator>
#include <ry/cpp/text.hpp>
#include <utility>

#include "text.hpp"

namespace runs {
namespace {

constexpr std::pair<std::string_view, run_mode> mode_names[] = {
    {"agent", run_mode::agent}, {"chat", run_mode::chat}, {"code", run_mode::code}};

}  // namespace

std::optional<run_mode> run_mode_of(std::string_view name) {
  const std::string lower = ry::lower_ascii(name);
  for (const auto& [known, mode] : mode_names)
    if (known == lower) return mode;
  return std::nullopt;
}

std::string_view name_of(run_mode mode) {
  for (const auto& [name, known] : mode_names)
    if (known == mode) return name;
  return {};
}

std::string prompt_in_mode(std::string agent_prompt, run_mode mode, std::string_view code_instructions) {
  if (mode != run_mode::code || is_blank(code_instructions)) return agent_prompt;
  if (!agent_prompt.empty()) agent_prompt += "\n\n";
  return agent_prompt.append(code_instructions);
}

}  // namespace runs

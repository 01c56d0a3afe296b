// Parameters of a model's answers, as a start gives them or the settings do for a model. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runs {

struct model_parameters {
  std::optional<double> temperature, top_p;
  std::optional<std::int64_t> max_output_tokens;
  std::string reasoning_effort;  // empty: not given
  std::string tool_choice;       // JSON text: a string or {"name":"..."}; empty: not given

  bool empty() const { return *this == model_parameters(); }
  bool operator==(const model_parameters&) const = default;
};

bool is_model_parameter(std::string_view name);

// Sets the parameter from its text as a form has it. Returns what is wrong with the text, beginning with "must"; empty
// when it was set.
std::string set_parameter(model_parameters& to, std::string_view name, std::string_view text);

// The members of a JSON object, separated by commas, as a request of llm.provider/1 has them; empty when none is given.
std::string members_of(const model_parameters& p);
// The other way, of members_of() in braces. What cannot be read is left out.
model_parameters read_parameters(std::string_view json);

// `first` where it is given, else `second`.
model_parameters merged(const model_parameters& first, const model_parameters& second);

// A tool choice that demands a call: "required", or a certain tool.
bool demands_call(const model_parameters& p);
// The tool that tool_choice names; empty: none.
std::string named_tool(const model_parameters& p);

}  // namespace runs

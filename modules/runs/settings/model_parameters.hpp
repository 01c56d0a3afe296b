// Parameters of model requests, from the start request or from the settings of a model. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runs {

struct model_parameters {
  std::optional<double> temperature, top_p;
  std::optional<std::int64_t> max_output_tokens;
  std::string reasoning_effort;  // empty: not set
  std::string tool_choice;  // JSON text: a string or {"name":"..."}; empty: not set

  bool empty() const { return *this == model_parameters(); }
  bool operator==(const model_parameters&) const = default;
};

// Of the JSON in runs.parameters: of its deepest member, output_schema, and the object around it.
inline constexpr std::size_t max_stored_depth = 61;

bool is_model_parameter(std::string_view name);

// Sets the parameter from the text of a form field. Returns an error message that begins with "must", or an empty
// string.
std::string set_parameter(model_parameters& to, std::string_view name, std::string_view text);

// The parameters that are set, as members of a JSON object, separated by commas, for a request of llm.provider/1.
std::string members_of(const model_parameters& p);
// The inverse of members_of(), for its result in braces. Skips invalid members.
model_parameters read_parameters(std::string_view json);

// Each parameter of `first`, or of `second` where `first` does not set it.
model_parameters merged(const model_parameters& first, const model_parameters& second);

// Whether the tool choice demands a call: "required", or a particular tool.
bool demands_call(const model_parameters& p);
// The tool that tool_choice names; empty: none.
std::string named_tool(const model_parameters& p);

}  // namespace runs

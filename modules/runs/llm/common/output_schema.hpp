// The JSON Schema of an answer (`output_schema` of a request) in the form that a provider accepts, or as a text for the
// model. The caller checks the answer itself, so a provider may get a part of the constraints. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <optional>

namespace llm {

// The setting `output_schema` of a provider; automatic: by the dialect and the model.
enum class schema_passing { automatic, native, prompt };

struct schema_limits {
  bool recursion = false;  // schemas may refer to themselves
  bool all_required = false;  // every property must be required
  std::size_t optional_properties = 24, alternatives = 16;  // of the complete schema
};

struct native_schema {
  boost::json::object schema;
  bool is_complete = true;  // false: constraints were left out
};
// The subset that the structured outputs of OpenAI and Anthropic share: objects with fixed properties. nullopt: it cannot
// express the schema.
std::optional<native_schema> narrow_output_schema(const boost::json::object& schema, const schema_limits& limits);

// What the driver passes to its provider.
struct output_format {
  boost::json::object schema;
  bool is_strict = true;  // false: the complete schema, as guidance
};
// Removes `output_schema` from the request. nullopt: the request has none, or it was added to the system prompt. limits:
// nullopt if the provider gets no schema. allow_guidance: the provider also accepts schemas that are not in its subset.
std::optional<output_format> take_output_schema(boost::json::object& request,
                                                const std::optional<schema_limits>& limits, bool allow_guidance);

}  // namespace llm

// JSON Schemas of tools in the form that a provider accepts. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace llm {

enum class schema_dialect {
  full,  // JSON Schema 2020-12 below the top level: OpenAI, Anthropic and most others
  openapi,  // the subset of OpenAPI 3.0 that Gemini reads
};

using name_map = std::map<std::string, std::string, std::less<>>;

struct tool_parameters {
  boost::json::object schema;  // of type object, with properties, without composition at the top level
  name_map original_names;  // renamed properties: new name -> original name
  std::string alternatives;  // required sets of the top-level composition, for the tool's description: "url | id"
};

// nullopt: the schema does not allow an object, but arguments are always objects.
std::optional<tool_parameters> normalise_parameters(const boost::json::value* schema, schema_dialect dialect);

// `arguments` with the keys of `names` replaced, at every depth.
boost::json::value rename_keys(boost::json::value arguments, const name_map& names);

}  // namespace llm

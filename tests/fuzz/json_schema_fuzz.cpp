// JSON Schemas of tools from MCP servers and clients: the normalised schema is valid for the provider's dialect, and
// the arguments of a call map back to the original names.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>
#include <string>

#include "check.hpp"
#include "tool_schema.hpp"

namespace {

namespace json = boost::json;
using llm::schema_dialect;

bool is_name(std::string_view s) {
  return !s.empty() && s.size() <= 64 &&
         s.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == s.npos;
}

bool is_type(const json::value& v) {
  static const std::set<std::string, std::less<>> types{"string", "number", "integer", "boolean",
                                                        "object", "array",  "null"};
  return v.is_string() && types.contains(std::string_view(v.get_string()));
}

void check_required(const json::object& s) {
  const auto* required = s.if_contains("required");
  if (required == nullptr) return;
  fuzz::check(required->is_array() && !required->get_array().empty(), "required is a non-empty list");
  const auto* properties = s.if_contains("properties");
  std::set<std::string> once;
  for (const auto& name : required->get_array())
    fuzz::check(name.is_string() && once.emplace(name.get_string()).second && properties &&
                    properties->as_object().contains(name.get_string()),
                "required names properties, each once");
}

// The subset of JSON Schema 2020-12 that OpenAI and Anthropic accept.
void check_full(const json::value& v) {
  if (v.is_bool()) return;
  fuzz::check(v.is_object(), "a schema is an object or a boolean");
  const auto& s = v.get_object();
  for (const auto* keyword : {"$ref", "$defs", "definitions", "$schema", "$id", "prefixItems"})
    fuzz::check(!s.contains(keyword), "references and dialects are resolved");
  if (const auto* type = s.if_contains("type")) {
    if (const auto* list = type->if_array()) {
      fuzz::check(!list->empty(), "a list of types is not empty");
      std::set<std::string> once;
      for (const auto& t : *list)
        fuzz::check(is_type(t) && once.emplace(t.get_string()).second, "types are standard, each once");
    } else {
      fuzz::check(is_type(*type), "a type is standard");
    }
    if (*type == "array") fuzz::check(s.contains("items"), "an array schema has items");
  }
  for (const auto* name : {"properties", "patternProperties"})
    if (const auto* all = s.if_contains(name)) {
      fuzz::check(all->is_object(), "properties are an object");
      for (const auto& p : all->get_object()) {
        fuzz::check(std::string_view(name) != "properties" || is_name(p.key()),
                    "property names are valid for every provider");
        check_full(p.value());
      }
    }
  check_required(s);
  for (const auto* name : {"items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"})
    if (const auto* one = s.if_contains(name)) check_full(*one);
  for (const auto* name : {"anyOf", "oneOf", "allOf"})
    if (const auto* list = s.if_contains(name)) {
      fuzz::check(list->is_array() && !list->get_array().empty(), "a composition has alternatives");
      for (const auto& one : list->get_array()) check_full(one);
    }
  for (const auto* name : {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
    if (const auto* n = s.if_contains(name))
      fuzz::check(n->is_uint64() || (n->is_int64() && n->get_int64() >= 0), "counts are non-negative integers");
  for (const auto* name : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
    if (const auto* n = s.if_contains(name)) fuzz::check(n->is_number(), "bounds are numbers");
  for (const auto* name : {"title", "description", "format", "pattern"})
    if (const auto* text = s.if_contains(name)) fuzz::check(text->is_string(), "text keywords are strings");
  if (const auto* values = s.if_contains("enum"))
    fuzz::check(values->is_array() && !values->get_array().empty(), "enum is a non-empty list");
}

// The subset of OpenAPI that Gemini accepts.
void check_openapi(const json::value& v) {
  static const std::set<std::string, std::less<>> known{
      "type",      "format",   "title",      "description", "nullable",      "enum",          "items",
      "minItems",  "maxItems", "properties", "required",    "minProperties", "maxProperties", "minLength",
      "maxLength", "pattern",  "anyOf",      "minimum",     "maximum"};
  fuzz::check(v.is_object(), "a schema is an object");
  const auto& s = v.get_object();
  for (const auto& member : s) fuzz::check(known.contains(std::string_view(member.key())), "only known keywords");
  const auto* type = s.if_contains("type");
  const auto* any = s.if_contains("anyOf");
  fuzz::check((type != nullptr) != (any != nullptr), "either type or anyOf");
  if (any) {
    fuzz::check(any->is_array() && !any->get_array().empty(), "anyOf has alternatives");
    for (const auto& one : any->get_array()) check_openapi(one);
  }
  if (type) fuzz::check(is_type(*type) && *type != "null", "one type");
  const auto only_of = [&](const char* keyword, const char* of) {
    if (s.contains(keyword)) fuzz::check(type && *type == of, "keywords occur only with their type");
  };
  only_of("items", "array");
  only_of("properties", "object");
  only_of("required", "object");
  only_of("enum", "string");
  if (type && *type == "array")
    fuzz::check(s.contains("items") && !s.at("items").as_object().empty(), "an array schema has items");
  if (const auto* items = s.if_contains("items")) check_openapi(*items);
  if (const auto* all = s.if_contains("properties"))
    for (const auto& p : all->as_object()) {
      fuzz::check(is_name(p.key()), "property names are valid for every provider");
      check_openapi(p.value());
    }
  check_required(s);
  if (const auto* values = s.if_contains("enum"))
    for (const auto& one : values->as_array()) fuzz::check(one.is_string(), "enum values are strings");
  if (const auto* nullable = s.if_contains("nullable")) fuzz::check(nullable->is_bool(), "nullable is a boolean");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const auto dialect = fuzz::take(input) % 2 == 0 ? schema_dialect::full : schema_dialect::openapi;
  boost::system::error_code bad;
  const auto given = json::parse(input, bad, {}, {.max_depth = 128});
  if (bad) return 0;
  const auto got = llm::normalise_parameters(&given, dialect);
  if (!got) return 0;
  const json::value result(got->schema);
  fuzz::check(result.get_object().at("type") == "object" && result.get_object().at("properties").is_object(),
              "parameters are an object with properties");
  for (const auto* composed : {"anyOf", "oneOf", "allOf", "not", "enum", "const", "if"})
    fuzz::check(!got->schema.contains(composed), "no composition at the top level");
  if (dialect == schema_dialect::full)
    check_full(result);
  else
    check_openapi(result);
  const auto text = json::serialize(result);
  fuzz::check(text.size() <= 512 * 1024 + 16 * size, "a schema does not grow without bound");
  fuzz::check(!json::parse(text, bad, {}, {.max_depth = 256}).is_null() && !bad, "the depth is limited");
  // Normalisation is idempotent.
  const auto twice = llm::normalise_parameters(&result, dialect);
  fuzz::check(twice.has_value(), "a normalised schema can be normalised again");
  fuzz::check(twice->original_names.empty(), "normalised names need no further renaming");
  std::set<std::string> originals;
  for (const auto& [renamed, original] : got->original_names)
    fuzz::check(is_name(renamed) && renamed != original && originals.insert(original).second,
                "each renamed property maps to one original");
  json::object arguments, expected;
  for (const auto& p : got->schema.at("properties").as_object()) {
    arguments[p.key()] = 1;
    const auto found = got->original_names.find(std::string_view(p.key()));
    expected[found == got->original_names.end() ? std::string_view(p.key()) : std::string_view(found->second)] = 1;
  }
  fuzz::check(
      llm::rename_keys(arguments, got->original_names) == json::value(expected) && arguments.size() == expected.size(),
      "arguments map back to the original names");
  return 0;
}

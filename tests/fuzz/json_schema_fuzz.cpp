// JSON Schemas of tools from MCP servers and clients: the normalised schema is valid for the provider's dialect, and the
// arguments of a call map back to the original names.
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
  fuzz::promise(required->is_array() && !required->get_array().empty(), "required is a list");
  const auto* properties = s.if_contains("properties");
  std::set<std::string> once;
  for (const auto& name : required->get_array())
    fuzz::promise(name.is_string() && once.emplace(name.get_string()).second && properties &&
                      properties->as_object().contains(name.get_string()),
                  "required names properties, each once");
}

// JSON Schema 2020-12, as OpenAI and Anthropic check it.
void check_full(const json::value& v) {
  if (v.is_bool()) return;
  fuzz::promise(v.is_object(), "a schema is an object or a boolean");
  const auto& s = v.get_object();
  for (const auto* gone : {"$ref", "$defs", "definitions", "$schema", "$id", "prefixItems"})
    fuzz::promise(!s.contains(gone), "references and dialects are resolved");
  if (const auto* type = s.if_contains("type")) {
    if (const auto* list = type->if_array()) {
      fuzz::promise(!list->empty(), "a list of types has one");
      std::set<std::string> once;
      for (const auto& t : *list)
        fuzz::promise(is_type(t) && once.emplace(t.get_string()).second, "types are standard, each once");
    } else {
      fuzz::promise(is_type(*type), "a type is a standard one");
    }
    if (*type == "array") fuzz::promise(s.contains("items"), "a list has items");
  }
  for (const auto* name : {"properties", "patternProperties"})
    if (const auto* all = s.if_contains(name)) {
      fuzz::promise(all->is_object(), "properties are an object");
      for (const auto& p : all->get_object()) {
        fuzz::promise(std::string_view(name) != "properties" || is_name(p.key()),
                      "names are those that every provider takes");
        check_full(p.value());
      }
    }
  check_required(s);
  for (const auto* name : {"items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"})
    if (const auto* one = s.if_contains(name)) check_full(*one);
  for (const auto* name : {"anyOf", "oneOf", "allOf"})
    if (const auto* list = s.if_contains(name)) {
      fuzz::promise(list->is_array() && !list->get_array().empty(), "composition has parts");
      for (const auto& one : list->get_array()) check_full(one);
    }
  for (const auto* name : {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
    if (const auto* n = s.if_contains(name))
      fuzz::promise(n->is_uint64() || (n->is_int64() && n->get_int64() >= 0), "counts are counts");
  for (const auto* name : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
    if (const auto* n = s.if_contains(name)) fuzz::promise(n->is_number(), "bounds are numbers");
  for (const auto* name : {"title", "description", "format", "pattern"})
    if (const auto* text = s.if_contains(name)) fuzz::promise(text->is_string(), "texts are texts");
  if (const auto* values = s.if_contains("enum"))
    fuzz::promise(values->is_array() && !values->get_array().empty(), "choices are a list");
}

// The subset of OpenAPI that Gemini checks.
void check_openapi(const json::value& v) {
  static const std::set<std::string, std::less<>> known{
      "type",      "format",   "title",      "description", "nullable",      "enum",          "items",
      "minItems",  "maxItems", "properties", "required",    "minProperties", "maxProperties", "minLength",
      "maxLength", "pattern",  "anyOf",      "minimum",     "maximum"};
  fuzz::promise(v.is_object(), "a schema is an object");
  const auto& s = v.get_object();
  for (const auto& member : s) fuzz::promise(known.contains(std::string_view(member.key())), "only known keywords");
  const auto* type = s.if_contains("type");
  const auto* any = s.if_contains("anyOf");
  fuzz::promise((type != nullptr) != (any != nullptr), "a type or a choice of several");
  if (any) {
    fuzz::promise(any->is_array() && !any->get_array().empty(), "a choice has parts");
    for (const auto& one : any->get_array()) check_openapi(one);
  }
  if (type) fuzz::promise(is_type(*type) && *type != "null", "one type");
  const auto only_of = [&](const char* keyword, const char* of) {
    if (s.contains(keyword)) fuzz::promise(type && *type == of, "keywords stand with their type");
  };
  only_of("items", "array");
  only_of("properties", "object");
  only_of("required", "object");
  only_of("enum", "string");
  if (type && *type == "array")
    fuzz::promise(s.contains("items") && !s.at("items").as_object().empty(), "a list has items");
  if (const auto* items = s.if_contains("items")) check_openapi(*items);
  if (const auto* all = s.if_contains("properties"))
    for (const auto& p : all->as_object()) {
      fuzz::promise(is_name(p.key()), "names are those that every provider takes");
      check_openapi(p.value());
    }
  check_required(s);
  if (const auto* values = s.if_contains("enum"))
    for (const auto& one : values->as_array()) fuzz::promise(one.is_string(), "choices are texts");
  if (const auto* nullable = s.if_contains("nullable")) fuzz::promise(nullable->is_bool(), "nullable is a flag");
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
  fuzz::promise(result.get_object().at("type") == "object" && result.get_object().at("properties").is_object(),
                "parameters are an object with properties");
  for (const auto* composed : {"anyOf", "oneOf", "allOf", "not", "enum", "const", "if"})
    fuzz::promise(!got->schema.contains(composed), "no composition at the top level");
  if (dialect == schema_dialect::full)
    check_full(result);
  else
    check_openapi(result);
  const auto text = json::serialize(result);
  fuzz::promise(text.size() <= 512 * 1024 + 16 * size, "a schema does not grow without bound");
  fuzz::promise(!json::parse(text, bad, {}, {.max_depth = 256}).is_null() && !bad, "it is not too deep to be read");
  // Normalisation is idempotent.
  const auto twice = llm::normalise_parameters(&result, dialect);
  fuzz::promise(twice.has_value(), "a result can be expressed");
  fuzz::promise(twice->original_names.empty(), "its names are good ones");
  std::set<std::string> originals;
  for (const auto& [renamed, original] : got->original_names)
    fuzz::promise(is_name(renamed) && renamed != original && originals.insert(original).second,
                  "each name has one way back");
  json::object arguments, expected;
  for (const auto& p : got->schema.at("properties").as_object()) {
    arguments[p.key()] = 1;
    const auto found = got->original_names.find(std::string_view(p.key()));
    expected[found == got->original_names.end() ? std::string_view(p.key()) : std::string_view(found->second)] = 1;
  }
  fuzz::promise(
      llm::rename_keys(arguments, got->original_names) == json::value(expected) && arguments.size() == expected.size(),
      "arguments find their way back");
  return 0;
}

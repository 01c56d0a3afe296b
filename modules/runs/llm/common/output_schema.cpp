#include "output_schema.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "output_instruction.hpp"
#include "request.hpp"

namespace llm {

namespace json = boost::json;

namespace {

constexpr std::size_t max_references = 32;  // that lead from one to the next
constexpr std::string_view definition_prefix = "#/$defs/";

class schema_narrower {
 public:
  schema_narrower(const json::object& root, const schema_limits& limits) : root_(root), limits_(limits) {}

  std::optional<native_schema> run() {
    native_schema out;
    if (text_at(root_, "type") != "object" || !narrow(root_, out.schema)) return std::nullopt;
    if (const json::object* definitions = object_at(root_, "$defs")) {
      json::object narrowed;
      for (const auto& member : *definitions) {
        json::object to;
        if (!member.value().is_object() || !narrow(member.value().get_object(), to)) return std::nullopt;
        narrowed[member.key()] = std::move(to);
      }
      out.schema["$defs"] = std::move(narrowed);
    }
    if (optional_ > limits_.optional_properties || alternatives_ > limits_.alternatives) return std::nullopt;
    if (!limits_.recursion && is_recursive(root_)) return std::nullopt;
    out.is_complete = complete_;
    return out;
  }

 private:
  // False: the subset cannot express the schema.
  bool narrow(const json::object& from, json::object& to) {
    const bool is_object = text_at(from, "type") == "object";
    if (from.contains("$ref") && !text_at(from, "$ref").starts_with(definition_prefix)) return false;
    if (from.contains("properties") && !is_object) return false;
    for (const auto& member : from) {
      const std::string_view name = member.key();
      const json::value& v = member.value();
      if (name == "type" || name == "description" || name == "enum" || name == "const" || name == "$ref") {
        if (name == "type" && v.is_array()) ++alternatives_;
        if (name == "type" && v.is_array() && !allows_no_object(v.get_array())) return false;
        to[name] = v;
      } else if (name == "anyOf") {
        ++alternatives_;
        if (!narrow_list(v, to[name].emplace_array())) return false;
      } else if (name == "items") {
        if (!v.is_object() || !narrow(v.get_object(), to[name].emplace_object())) return false;
      } else if (name == "additionalProperties") {
        if (!v.is_bool() || !is_object) return false;
      } else if (name == "properties") {
        if (!narrow_properties(from, v, to)) return false;
      } else if (name == "allOf" || name == "oneOf" || name == "not" || name == "prefixItems" ||
                 name == "propertyNames" || name == "definitions") {
        return false;
      } else if (name != "required" && name != "$defs" && !is_annotation(name)) {
        complete_ = false;
      }
    }
    if (is_object && !to.contains("properties")) return false;
    return !to.empty();  // a schema without constraints
  }

  static bool allows_no_object(const json::array& types) {
    return std::none_of(types.begin(), types.end(), [](const json::value& t) { return t == "object" || t == "array"; });
  }
  static bool is_annotation(std::string_view name) {
    return name == "title" || name == "default" || name == "examples" || name == "$schema" || name == "$comment" ||
           name == "$id" || name == "deprecated" || name == "readOnly" || name == "writeOnly";
  }

  bool narrow_list(const json::value& from, json::array& to) {
    if (!from.is_array()) return false;
    for (const json::value& item : from.get_array())
      if (!item.is_object() || !narrow(item.get_object(), to.emplace_back(json::object()).get_object())) return false;
    return true;
  }

  // The object gets no other properties, which the schema may allow but does not require.
  bool narrow_properties(const json::object& from, const json::value& properties, json::object& to) {
    if (!properties.is_object()) return false;
    std::vector<std::string_view> required;
    if (const json::array* names = array_at(from, "required"))
      for (const json::value& n : *names)
        if (n.is_string()) required.emplace_back(n.get_string());
    json::object narrowed;
    for (const auto& member : properties.get_object()) {
      json::object schema;
      if (!member.value().is_object() || !narrow(member.value().get_object(), schema)) return false;
      narrowed[member.key()] = std::move(schema);
      if (std::find(required.begin(), required.end(), member.key()) != required.end()) continue;
      if (limits_.all_required) return false;
      ++optional_;
    }
    json::array names;
    for (const std::string_view name : required) {
      if (!narrowed.contains(name)) return false;
      names.emplace_back(name);
    }
    to["properties"] = std::move(narrowed);
    to["required"] = std::move(names);
    to["additionalProperties"] = false;
    return true;
  }

  // Follows references; a definition that is being visited refers to itself.
  bool is_recursive(const json::value& v) {
    if (const json::array* list = v.if_array())
      return std::any_of(list->begin(), list->end(), [&](const json::value& item) { return is_recursive(item); });
    const json::object* o = v.if_object();
    if (o == nullptr) return false;
    if (const std::string_view reference = text_at(*o, "$ref"); !reference.empty()) {
      const std::string_view name = reference.substr(definition_prefix.size());
      const json::object* definitions = object_at(root_, "$defs");
      const json::value* target = definitions == nullptr ? nullptr : module_json::member_at(*definitions, name);
      if (target == nullptr || visiting_.size() == max_references ||
          std::find(visiting_.begin(), visiting_.end(), name) != visiting_.end())
        return true;
      if (std::find(visited_.begin(), visited_.end(), name) == visited_.end()) {
        visiting_.push_back(name);
        const bool recursive = is_recursive(*target);
        visiting_.pop_back();
        if (recursive) return true;
        visited_.push_back(name);
      }
    }
    return std::any_of(o->begin(), o->end(), [&](const auto& member) { return is_recursive(member.value()); });
  }
  bool is_recursive(const json::object& o) {
    return std::any_of(o.begin(), o.end(), [&](const auto& member) { return is_recursive(member.value()); });
  }

  const json::object& root_;
  const schema_limits& limits_;
  std::size_t optional_ = 0, alternatives_ = 0;
  bool complete_ = true;
  std::vector<std::string_view> visiting_, visited_;
};

}  // namespace

std::optional<native_schema> narrow_output_schema(const json::object& schema, const schema_limits& limits) {
  return schema_narrower(schema, limits).run();
}

std::optional<output_format> take_output_schema(json::object& request, const std::optional<schema_limits>& limits,
                                                bool allow_guidance) {
  const json::object* given = object_at(request, "output_schema");
  if (given == nullptr) return std::nullopt;
  const json::object schema = *given;
  request.erase("output_schema");
  std::optional<output_format> out;
  bool is_complete = false;
  if (limits) {
    if (std::optional<native_schema> native = narrow_output_schema(schema, *limits)) {
      is_complete = native->is_complete;
      out = output_format{std::move(native->schema), true};
    } else if (allow_guidance && text_at(schema, "type") == "object") {
      is_complete = true;
      out = output_format{schema, false};
    }
  }
  if (!is_complete) {
    std::string system(text_at(request, "system"));
    if (!system.empty()) system += "\n\n";
    request["system"] = system + output_instruction(json::serialize(schema));
  }
  return out;
}

}  // namespace llm

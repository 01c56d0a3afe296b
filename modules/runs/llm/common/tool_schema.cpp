#include "tool_schema.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <ry/cpp/text.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "request.hpp"
#include "tool_ids.hpp"

namespace llm {

namespace json = boost::json;

namespace {

// Limits for one schema after its references have been resolved; a reference may be used many times.
constexpr int max_nodes = 4000;
constexpr std::size_t max_resolved_bytes = 128 * 1024;
constexpr int max_depth = 60;
constexpr std::size_t max_name = 64;  // of a property; limit of Anthropic

enum class keyword { other, drop, schema, schemas, named_schemas, string, boolean, count, number, list };

// The required form of a keyword's value. Unknown keywords are passed on.
keyword keyword_of(std::string_view key) {
  static constexpr std::pair<std::string_view, keyword> known[] = {{"$ref", keyword::drop},
                                                                   {"$schema", keyword::drop},
                                                                   {"$id", keyword::drop},
                                                                   {"id", keyword::drop},
                                                                   {"$anchor", keyword::drop},
                                                                   {"$comment", keyword::drop},
                                                                   {"$vocabulary", keyword::drop},
                                                                   {"$defs", keyword::drop},
                                                                   {"definitions", keyword::drop},
                                                                   {"$dynamicRef", keyword::drop},
                                                                   {"$dynamicAnchor", keyword::drop},
                                                                   {"$recursiveRef", keyword::drop},
                                                                   {"$recursiveAnchor", keyword::drop},
                                                                   {"dependencies", keyword::drop},
                                                                   {"dependentRequired", keyword::drop},
                                                                   {"dependentSchemas", keyword::drop},
                                                                   {"unevaluatedItems", keyword::drop},
                                                                   {"unevaluatedProperties", keyword::drop},
                                                                   {"additionalItems", keyword::drop},
                                                                   {"prefixItems", keyword::drop},
                                                                   {"items", keyword::drop},
                                                                   {"type", keyword::drop},
                                                                   {"properties", keyword::drop},
                                                                   {"required", keyword::drop},
                                                                   {"enum", keyword::drop},
                                                                   {"exclusiveMinimum", keyword::drop},
                                                                   {"exclusiveMaximum", keyword::drop},
                                                                   {"additionalProperties", keyword::schema},
                                                                   {"propertyNames", keyword::schema},
                                                                   {"contains", keyword::schema},
                                                                   {"not", keyword::schema},
                                                                   {"if", keyword::schema},
                                                                   {"then", keyword::schema},
                                                                   {"else", keyword::schema},
                                                                   {"anyOf", keyword::schemas},
                                                                   {"oneOf", keyword::schemas},
                                                                   {"allOf", keyword::schemas},
                                                                   {"patternProperties", keyword::named_schemas},
                                                                   {"title", keyword::string},
                                                                   {"description", keyword::string},
                                                                   {"format", keyword::string},
                                                                   {"pattern", keyword::string},
                                                                   {"contentEncoding", keyword::string},
                                                                   {"contentMediaType", keyword::string},
                                                                   {"uniqueItems", keyword::boolean},
                                                                   {"deprecated", keyword::boolean},
                                                                   {"readOnly", keyword::boolean},
                                                                   {"writeOnly", keyword::boolean},
                                                                   {"nullable", keyword::boolean},
                                                                   {"minLength", keyword::count},
                                                                   {"maxLength", keyword::count},
                                                                   {"minItems", keyword::count},
                                                                   {"maxItems", keyword::count},
                                                                   {"minProperties", keyword::count},
                                                                   {"maxProperties", keyword::count},
                                                                   {"minContains", keyword::count},
                                                                   {"maxContains", keyword::count},
                                                                   {"minimum", keyword::number},
                                                                   {"maximum", keyword::number},
                                                                   {"multipleOf", keyword::number},
                                                                   {"examples", keyword::list}};
  const auto* found = std::find_if(std::begin(known), std::end(known), [key](const auto& k) { return k.first == key; });
  return found == std::end(known) ? keyword::other : found->second;
}

// The standard name of a type; empty if unknown.
std::string_view type_name(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"string", "string"},  {"str", "string"},      {"text", "string"},   {"date", "string"},  {"datetime", "string"},
      {"uuid", "string"},    {"enum", "string"},     {"number", "number"}, {"float", "number"}, {"double", "number"},
      {"decimal", "number"}, {"integer", "integer"}, {"int", "integer"},   {"long", "integer"}, {"boolean", "boolean"},
      {"bool", "boolean"},   {"object", "object"},   {"dict", "object"},   {"map", "object"},   {"array", "array"},
      {"list", "array"},     {"tuple", "array"},     {"null", "null"},     {"none", "null"}};
  std::string lower = ry::lower_ascii(name);
  for (const auto& [alias, standard] : names)
    if (lower == alias) return standard;
  return {};
}

std::string_view type_of(const json::value& v) {
  switch (v.kind()) {
    case json::kind::string:
      return "string";
    case json::kind::bool_:
      return "boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "integer";
    case json::kind::double_:
      return "number";
    case json::kind::null:
      return "null";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
  }
  return {};
}

bool is_count(const json::value& v) {
  return v.is_uint64() || (v.is_int64() && v.get_int64() >= 0);
}

bool is_property_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

// Resolves a JSON pointer such as "#/a/b~1c/%64".
const json::value* resolve_pointer(const json::value& root, std::string_view ref) {
  if (!ref.starts_with('#')) return nullptr;
  ref.remove_prefix(1);
  const json::value* at = &root;
  while (!ref.empty()) {
    if (ref.front() != '/') return nullptr;
    ref.remove_prefix(1);
    const auto token = ref.substr(0, ref.find('/'));
    ref.remove_prefix(token.size());
    std::string key;
    for (std::size_t i = 0; i < token.size(); ++i) {
      const auto hex = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
      };
      if (token[i] == '%' && i + 2 < token.size() && hex(token[i + 1]) >= 0 && hex(token[i + 2]) >= 0) {
        key += static_cast<char>(hex(token[i + 1]) * 16 + hex(token[i + 2]));
        i += 2;
      } else if (token[i] == '~' && i + 1 < token.size()) {
        key += token[++i] == '1' ? '/' : '~';
      } else {
        key += token[i];
      }
    }
    if (const auto* o = at->if_object()) {
      at = o->if_contains(key);
    } else if (const auto* list = at->if_array()) {
      const bool digits = !key.empty() && key.size() < 6 &&
                          std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
      const std::size_t n = digits ? std::stoul(key) : list->size();
      at = n < list->size() ? &(*list)[n] : nullptr;
    } else {
      at = nullptr;
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

void add_unique(json::array& list, json::value v) {
  if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(std::move(v));
}

json::array strings_of(const json::value* v) {
  json::array out;
  if (v == nullptr) return out;
  if (const auto* list = v->if_array())
    for (const auto& s : *list)
      if (s.is_string()) add_unique(out, s);
  if (const auto* object = v->if_object())  // PHP serializes a list with gaps as an object
    for (const auto& s : *object)
      if (s.value().is_string()) add_unique(out, s.value());
  return out;
}

// Deducts the approximate size of `v` from the remaining budget; false if it does not fit.
bool fits(const json::value& v, std::size_t& bytes_left) {
  std::size_t bytes = 8;
  if (const auto* s = v.if_string()) bytes += s->size();
  if (bytes > bytes_left) return false;
  bytes_left -= bytes;
  if (const auto* list = v.if_array())
    return std::all_of(list->begin(), list->end(), [&bytes_left](const auto& item) { return fits(item, bytes_left); });
  if (const auto* object = v.if_object())
    for (const auto& member : *object) {
      if (member.key().size() > bytes_left) return false;
      bytes_left -= member.key().size();
      if (!fits(member.value(), bytes_left)) return false;
    }
  return true;
}

class normaliser {
 public:
  normaliser(const json::value& root, schema_dialect dialect) : root_(root), dialect_(dialect) {}

  json::object schema_of(const json::value& v, int depth);
  name_map take_original_names() { return std::move(original_names_); }

 private:
  json::object resolved(const json::object& o, std::string_view ref, int depth);
  json::object keywords_of(const json::object& o, int depth);
  void add_type(json::object& out, const json::object& o) const;
  void add_enum(json::object& out, const json::object& o) const;
  void add_bounds(json::object& out, const json::object& o) const;
  void add_properties(json::object& out, const json::object& o, int depth);
  void add_items(json::object& out, const json::object& o, int depth);
  std::string property_name(std::string_view original);
  void reduce_to_openapi(json::object& out) const;

  const json::value& root_;
  const schema_dialect dialect_;
  int nodes_left_ = max_nodes;
  std::size_t resolve_bytes_left_ = max_resolved_bytes;
  std::vector<std::string> active_{"#"};  // references that are being resolved
  name_map original_names_, new_names_;
  std::set<std::string, std::less<>> taken_names_;
};

json::object normaliser::schema_of(const json::value& v, int depth) {
  if (const auto* s = v.if_string()) {  // "name": "string"
    const auto type = type_name(*s);
    return type.empty() ? json::object() : keywords_of(json::object{{"type", type}}, depth);
  }
  const auto* o = v.if_object();
  if (o == nullptr || depth > max_depth || nodes_left_-- <= 0) return {};
  if (const auto ref = text_at(*o, "$ref"); !ref.empty()) return resolved(*o, ref, depth);
  return keywords_of(*o, depth);
}

// The members next to a reference extend its target. Recursive references, and those that would make the schema too
// large, are reduced to type and description.
json::object normaliser::resolved(const json::object& o, std::string_view ref, int depth) {
  json::object siblings = o;
  siblings.erase("$ref");
  const auto* target = resolve_pointer(root_, ref);
  const auto* object = target ? target->if_object() : nullptr;
  if (object == nullptr) return keywords_of(siblings, depth);
  if (std::find(active_.begin(), active_.end(), ref) != active_.end() || !fits(*target, resolve_bytes_left_)) {
    for (const auto* key : {"type", "description"})
      if (const auto* value = object->if_contains(key); value && !siblings.contains(key)) siblings[key] = *value;
    return keywords_of(siblings, depth);
  }
  active_.emplace_back(ref);
  json::object merged = *object;
  for (const auto& member : siblings) merged[member.key()] = member.value();
  json::object out = schema_of(merged, depth + 1);
  active_.pop_back();
  return out;
}

json::object normaliser::keywords_of(const json::object& o, int depth) {
  json::object out;
  add_type(out, o);
  for (const auto& [key_text, value] : o) {
    const std::string_view key(key_text.data(), key_text.size());
    switch (keyword_of(key)) {
      case keyword::drop:
        break;
      case keyword::other:
        out[key] = value;
        break;
      case keyword::string:
        if (value.is_string()) out[key] = value;
        break;
      case keyword::boolean:
        if (value.is_bool()) out[key] = value;
        break;
      case keyword::count:
        if (is_count(value)) out[key] = value;
        break;
      case keyword::number:
        if (value.is_number()) out[key] = value;
        break;
      case keyword::list:
        if (value.is_array()) out[key] = value;
        break;
      case keyword::schema:
        if (value.is_object()) out[key] = schema_of(value, depth + 1);
        if (value.is_bool()) out[key] = value;
        break;
      case keyword::schemas: {
        json::array list;
        if (const auto* given = value.if_array())
          for (const auto& v : *given) {
            const auto* variant = v.if_object();
            if (dialect_ == schema_dialect::openapi && variant && type_name(text_at(*variant, "type")) == "null")
              out["nullable"] = true;
            else if (variant || v.is_bool() || v.is_string())
              list.push_back(schema_of(v, depth + 1));
          }
        if (!list.empty()) out[key] = std::move(list);
        break;
      }
      case keyword::named_schemas: {
        json::object named;
        if (const auto* given = value.if_object())
          for (const auto& [name, v] : *given) named[name] = schema_of(v, depth + 1);
        if (!named.empty()) out[key] = std::move(named);
        break;
      }
    }
  }
  add_enum(out, o);
  add_bounds(out, o);
  add_properties(out, o, depth);
  add_items(out, o, depth);
  if (dialect_ == schema_dialect::openapi) reduce_to_openapi(out);
  return out;
}

// Infers a missing type from the other keywords; without a hint, any value is allowed.
void normaliser::add_type(json::object& out, const json::object& o) const {
  json::array types;
  if (const auto* given = o.if_contains("type")) {
    const auto add = [&types](const json::value& t) {
      const auto name = t.is_string() ? type_name(t.get_string()) : std::string_view();
      if (!name.empty()) add_unique(types, json::value(name));
    };
    add(*given);
    if (const auto* list = given->if_array())
      for (const auto& t : *list) add(t);
  }
  const auto any_of = [&o](std::initializer_list<std::string_view> keys) {
    return std::any_of(keys.begin(), keys.end(), [&o](std::string_view k) { return o.contains(k); });
  };
  if (types.empty() && !any_of({"anyOf", "oneOf", "allOf", "not", "if"})) {
    if (const auto* required = o.if_contains("required");
        any_of({"properties", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
                "maxProperties"}) ||
        (required && required->is_array())) {
      types.push_back("object");
    } else if (any_of({"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"})) {
      types.push_back("array");
    } else if (const auto* values = array_at(o, "enum"); values && !values->empty()) {
      for (const auto& v : *values) add_unique(types, json::value(type_of(v)));
    }
  }
  if (types.size() == 1) out["type"] = types.front();
  if (types.size() > 1) out["type"] = std::move(types);
}

void normaliser::add_enum(json::object& out, const json::object& o) const {
  json::array values;
  if (const auto* given = array_at(o, "enum"))
    for (const auto& v : *given) add_unique(values, v);
  if (!values.empty()) out["enum"] = std::move(values);
}

// Draft 4 syntax: {"minimum": 3, "exclusiveMinimum": true}.
void normaliser::add_bounds(json::object& out, const json::object& o) const {
  constexpr std::pair<const char*, const char*> bounds[] = {{"exclusiveMinimum", "minimum"},
                                                            {"exclusiveMaximum", "maximum"}};
  for (const auto& [exclusive, inclusive] : bounds) {
    const auto* given = o.if_contains(exclusive);
    if (given == nullptr) continue;
    if (given->is_number()) out[exclusive] = *given;
    const auto* bound = o.if_contains(inclusive);
    if (given->is_bool() && given->get_bool() && bound && bound->is_number()) {
      out[exclusive] = *bound;
      out.erase(inclusive);
    }
  }
}

void normaliser::add_properties(json::object& out, const json::object& o, int depth) {
  json::object properties;
  json::array required;
  const json::array required_names = strings_of(o.if_contains("required"));
  if (const auto* given = object_at(o, "properties"))
    for (const auto& [key, value] : *given) {
      if (value.is_bool() && !value.get_bool()) continue;  // the property must be absent
      const std::string_view name(key.data(), key.size());
      const std::string new_name = property_name(name);
      json::object schema = schema_of(value, depth + 1);
      if (new_name != name) {
        const auto text = text_at(schema, "description");
        std::string description = "The parameter \"" + std::string(name) + "\"";
        description.append(text.empty() ? "." : ": ").append(text);
        schema["description"] = description;
      }
      // In draft 3 the property itself has the flag `required`.
      const auto* object = value.if_object();
      const bool is_required_name =
          std::find(required_names.begin(), required_names.end(), json::value(name)) != required_names.end();
      if (is_required_name || (object && flag_at(*object, "required"))) add_unique(required, json::value(new_name));
      properties[new_name] = std::move(schema);
    }
  if (o.contains("properties")) out["properties"] = std::move(properties);
  if (!required.empty()) out["required"] = std::move(required);
}

// Converts tuples to lists whose elements match any of the positions.
void normaliser::add_items(json::object& out, const json::object& o, int depth) {
  const auto* items = o.if_contains("items");
  const auto* positions = array_at(o, "prefixItems");
  if (positions == nullptr && items) positions = items->if_array();
  if (positions != nullptr) {
    json::array kinds;
    for (const auto& v : *positions) add_unique(kinds, schema_of(v, depth + 1));
    if (items && items->is_object()) add_unique(kinds, schema_of(*items, depth + 1));
    if (kinds.size() == 1) out["items"] = std::move(kinds.front());
    if (kinds.size() > 1) out["items"] = json::object{{"anyOf", std::move(kinds)}};
    const auto* more = array_at(o, "prefixItems") ? items : o.if_contains("additionalItems");
    if (more && more->is_bool() && !more->get_bool() && !out.contains("maxItems") && !positions->empty())
      out["maxItems"] = positions->size();
  } else if (items) {
    out["items"] = schema_of(*items, depth + 1);
  }
  const auto* type = out.if_contains("type");
  const auto* types = type ? type->if_array() : nullptr;
  const bool list = type && (*type == json::value("array") ||
                             (types && std::find(types->begin(), types->end(), json::value("array")) != types->end()));
  if (list && !out.contains("items")) out["items"] = json::object();
}

std::string normaliser::property_name(std::string_view original) {
  if (const auto known = new_names_.find(original); known != new_names_.end()) return known->second;
  std::string name(original);
  if (!is_property_name(original)) {
    name.clear();
    for (const char c : original) {
      const bool fits = is_property_name(std::string_view(&c, 1));
      if (fits)
        name += c;
      else if (!name.empty() && name.back() != '_')
        name += '_';
    }
    while (name.ends_with('_')) name.pop_back();
    if (name.empty()) name = "parameter_" + short_hash(original, 0, 6);
    if (name.size() > max_name) name = name.substr(0, max_name - 7) + "_" + short_hash(original, 0, 6);
  }
  // A new name never equals another name of the same tool, so one map for all depths suffices.
  const std::string base = name.substr(0, max_name - 7);
  for (std::uint64_t salt = 1; !taken_names_.insert(name).second; ++salt)
    name = base + "_" + short_hash(original, salt, 6);
  new_names_.emplace(original, name);
  if (name != original) original_names_.emplace(name, original);
  return name;
}

void normaliser::reduce_to_openapi(json::object& out) const {
  static constexpr std::string_view kept[] = {"type",     "format",        "title",         "description", "nullable",
                                              "enum",     "items",         "minItems",      "maxItems",    "properties",
                                              "required", "minProperties", "maxProperties", "minLength",   "maxLength",
                                              "pattern",  "anyOf",         "minimum",       "maximum"};
  if (const auto* fixed = out.if_contains("const"); fixed && fixed->is_string() && !out.contains("enum"))
    out["enum"] = json::array{*fixed};
  if (const auto* all = array_at(out, "allOf")) {  // the first part with a value wins
    const json::array parts = *all;
    for (const auto& part : parts)
      for (const auto& member : part.get_object())
        if (member.key() != "required" && !out.contains(member.key())) out[member.key()] = member.value();
  }
  json::array variants;
  bool nullable = flag_at(out, "nullable");
  for (const char* key : {"anyOf", "oneOf"})
    if (const auto* list = array_at(out, key))
      for (const auto& v : *list) add_unique(variants, v);
  out.erase("anyOf");
  const auto* type = out.if_contains("type");
  if (const auto* types = type ? type->if_array() : nullptr) {
    json::array real;
    for (const auto& t : *types) {
      if (t == json::value("null"))
        nullable = true;
      else
        real.push_back(t);
    }
    if (real.size() == 1) {
      out["type"] = json::value(real.front());
    } else {
      out.erase("type");
      const bool have_variants = !variants.empty();  // variants exist from anyOf already
      for (const auto& t : real) {
        json::object variant{{"type", t}};
        if (t == json::value("array")) variant["items"] = json::object{{"type", "string"}};
        if (!have_variants) variants.push_back(std::move(variant));
      }
    }
  } else if (type && *type == json::value("null")) {
    nullable = true;
    out.erase("type");
  }
  for (auto it = out.begin(); it != out.end();) {
    const std::string_view key = it->key();
    const bool keep = std::find(std::begin(kept), std::end(kept), key) != std::end(kept);
    it = keep ? it + 1 : out.erase(it);
  }
  if (variants.size() == 1 && !out.contains("type") && !out.contains("properties")) {
    for (const auto& member : json::object(variants.front().get_object())) out.insert(json::key_value_pair(member));
  } else if (!variants.empty() && !out.contains("properties")) {
    json::object only{{"anyOf", std::move(variants)}};
    if (const auto* description = out.if_contains("description")) only["description"] = *description;
    out = std::move(only);
  }
  if (nullable)
    out["nullable"] = true;
  else
    out.erase("nullable");
  if (out.contains("anyOf")) return;
  if (const auto* values = array_at(out, "enum")) {
    const bool texts = std::all_of(values->begin(), values->end(), [](const auto& v) { return v.is_string(); });
    const auto* now = out.if_contains("type");
    if (!texts || (now && *now != json::value("string")))
      out.erase("enum");
    else
      out["type"] = "string";
  }
  if (!out.contains("type"))
    out["type"] = out.contains("properties") ? "object" : out.contains("items") ? "array" : "string";
  const auto final_type = std::string(text_at(out, "type"));
  if (final_type == "array") {
    const auto* items = object_at(out, "items");
    if (items == nullptr || items->empty()) out["items"] = json::object{{"type", "string"}};
  }
  // Keywords of another type have no meaning in this subset.
  if (final_type != "object") {
    for (const char* key : {"properties", "required", "minProperties", "maxProperties"}) out.erase(key);
  } else if (!out.contains("properties")) {
    out.erase("required");
  }
  if (final_type != "array")
    for (const char* key : {"items", "minItems", "maxItems"}) out.erase(key);
  if (const auto format = text_at(out, "format"); !format.empty()) {
    static constexpr std::string_view formats[] = {"date-time", "enum", "int32", "int64", "float", "double"};
    if (std::find(std::begin(formats), std::end(formats), format) == std::end(formats)) out.erase("format");
  }
}

bool may_be_object(const json::object& schema) {
  const auto* type = schema.if_contains("type");
  if (type == nullptr) return true;
  if (const auto* list = type->if_array())
    return std::find(list->begin(), list->end(), json::value("object")) != list->end();
  return *type == json::value("object");
}

void add_property(json::object& properties, std::string_view name, const json::value& schema) {
  auto* known = properties.if_contains(name);
  if (known == nullptr || known->get_object().empty()) {
    properties[name] = schema;
    return;
  }
  if (*known == schema) return;
  auto* list = known->get_object().size() == 1 ? known->get_object().if_contains("anyOf") : nullptr;
  if (list != nullptr && list->is_array())
    add_unique(list->get_array(), schema);
  else
    *known = json::object{{"anyOf", json::array{*known, schema}}};
}

std::string joined(const json::array& names) {
  std::string out;
  for (const auto& n : names) out.append(out.empty() ? "" : " + ").append(n.get_string());
  return out;
}

// Merges a composition into one object with all properties; required are those that all alternatives require. False:
// no alternative is an object.
bool flatten(json::object& schema, std::string& alternatives, int depth) {
  json::object properties;
  json::array required = strings_of(schema.if_contains("required"));
  if (const auto* direct = object_at(schema, "properties")) properties = *direct;
  const auto merge_properties = [&properties](const json::object& variant) {
    if (const auto* more = object_at(variant, "properties"))
      for (const auto& [name, s] : *more) add_property(properties, name, s);
  };
  bool possible = true;
  for (const char* key : {"allOf", "anyOf", "oneOf"}) {
    const auto* list = array_at(schema, key);
    if (list == nullptr) continue;
    std::optional<json::array> common;
    std::string description;
    bool any = false;
    for (const auto& v : *list) {
      const auto* object = v.if_object();
      if (object == nullptr || !may_be_object(*object)) continue;
      json::object variant = *object;
      std::string inner;
      if (depth > max_depth || !flatten(variant, inner, depth + 1)) continue;
      any = true;
      merge_properties(variant);
      const json::array needed = strings_of(variant.if_contains("required"));
      if (key == std::string_view("allOf")) {
        for (const auto& n : needed) add_unique(required, n);
        continue;
      }
      if (!needed.empty()) description.append(description.empty() ? "" : " | ").append(joined(needed));
      if (!common) {
        common = needed;
      } else {
        json::array both;
        for (const auto& n : *common)
          if (std::find(needed.begin(), needed.end(), n) != needed.end()) both.push_back(n);
        common = std::move(both);
      }
    }
    if (common)
      for (const auto& n : *common) add_unique(required, n);
    if (alternatives.empty() && description.find('|') != std::string::npos) alternatives = description;
    possible = possible && (any || !properties.empty());
  }
  for (const char* key : {"if", "then", "else"})
    if (const auto* variant = object_at(schema, key)) merge_properties(*variant);
  for (const char* key : {"allOf", "anyOf", "oneOf", "enum", "const", "not", "if", "then", "else", "nullable"})
    schema.erase(key);
  schema["type"] = "object";
  schema["properties"] = properties;
  schema.erase("required");
  required.erase(std::remove_if(required.begin(), required.end(),
                                [&](const json::value& n) { return !properties.contains(n.get_string()); }),
                 required.end());
  if (!required.empty()) schema["required"] = std::move(required);
  return possible;
}

}  // namespace

std::optional<tool_parameters> normalise_parameters(const json::value* given, schema_dialect dialect) {
  tool_parameters out;
  const json::value none;
  const json::value& root = given ? *given : none;
  // Resolves composition before applying the dialect's subset, which supports less of it.
  normaliser full(root, schema_dialect::full);
  json::object schema = full.schema_of(root, 0);
  if (!may_be_object(schema) && !schema.contains("properties")) return std::nullopt;
  if (!flatten(schema, out.alternatives, 0)) return std::nullopt;
  out.original_names = full.take_original_names();
  if (dialect == schema_dialect::openapi) {
    const json::value flat(std::move(schema));
    schema = normaliser(flat, dialect).schema_of(flat, 0);
    if (!schema.contains("properties")) schema["properties"] = json::object();
  }
  out.schema = std::move(schema);
  return out;
}

json::value rename_keys(json::value v, const name_map& names) {
  if (auto* list = v.if_array())
    for (auto& item : *list) item = rename_keys(std::move(item), names);
  if (auto* object = v.if_object()) {
    json::object out;
    for (auto& [key, value] : *object) {
      std::string_view name(key.data(), key.size());
      if (const auto found = names.find(name); found != names.end()) name = found->second;
      out[name] = rename_keys(std::move(value), names);
    }
    v = std::move(out);
  }
  return v;
}

}  // namespace llm
